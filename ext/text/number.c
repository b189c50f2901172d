#include "number.h"

#include <string.h>

#include "ascii.h"

/* The number of digits kept: 19 hold any int64. */
enum { DIGITS_KEPT = 19 };

struct decimal {
    bool negative;
    uint64_t kept;    /* the first digits, without leading zeros */
    int count;        /* number of digits in `kept` */
    bool cut;         /* digits after those were left out */
    unsigned next;    /* the first digit left out */
    bool more;        /* a digit after `next` is not 0 */
    int64_t exponent; /* value = kept * 10^exponent, apart from the digits cut */
};

static void take_digit(struct decimal *number, unsigned char c, bool fraction)
{
    if (number->count == DIGITS_KEPT) {
        if (!number->cut)
            number->next = (unsigned)(c - '0');
        else
            number->more = number->more || c != '0';
        number->cut = true;
        number->exponent += !fraction;
        return;
    }
    number->kept = number->kept * 10 + (uint64_t)(c - '0');
    number->count += number->kept != 0;
    number->exponent -= fraction;
}

/* Reads a number by the grammar of RFC 8259, section 6. */
static bool decimal_read(const unsigned char *p, size_t length, struct decimal *number)
{
    const unsigned char *end = p + length;
    *number = (struct decimal){0};
    if (p < end && *p == '-') {
        number->negative = true;
        p++;
    }
    if (p == end || !is_digit(*p) || (*p == '0' && p + 1 < end && is_digit(p[1])))
        return false;
    for (; p < end && is_digit(*p); p++)
        take_digit(number, *p, false);
    if (p < end && *p == '.') {
        if (++p == end || !is_digit(*p))
            return false;
        for (; p < end && is_digit(*p); p++)
            take_digit(number, *p, true);
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        bool down = false;
        if (++p < end && (*p == '+' || *p == '-'))
            down = *p++ == '-';
        if (p == end || !is_digit(*p))
            return false;
        int64_t exponent = 0;
        for (; p < end && is_digit(*p); p++)
            if (exponent < 1000000000000) /* no overflow; no text has that many digits */
                exponent = exponent * 10 + (*p - '0');
        number->exponent += down ? -exponent : exponent;
    }
    return p == end;
}

/* Rounds half to even. `*exact` tells whether no rounding was needed. False if the value does
** not fit in an int64. */
static bool decimal_round(const struct decimal *number, int64_t *result, bool *exact)
{
    uint64_t value = number->kept;
    unsigned last = number->next;
    bool rest = number->more;
    int64_t exponent = value ? number->exponent : 0;
    for (; exponent > 0; exponent--)
        if (__builtin_mul_overflow(value, (uint64_t)10, &value))
            return false;
    for (; exponent < 0 && (value || last); exponent++) {
        rest = rest || last != 0;
        last = (unsigned)(value % 10);
        value /= 10;
    }
    if (exponent < 0) /* what is left is less than half */
        rest = true;
    *exact = !rest && last == 0;
    value += last > 5 || (last == 5 && (rest || value % 2 == 1));
    if (value > (uint64_t)INT64_MAX + number->negative)
        return false;
    *result = number->negative ? (int64_t)(0 - value) : (int64_t)value;
    return true;
}

/* `size` bytes as a number, the first of which is the lowest byte. */
static inline uint64_t bytes_at(const unsigned char *text, size_t size)
{
    uint64_t word = 0;
    memcpy(&word, text, size);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* The digits that a text begins with, 8 at most, and their number. */
static inline size_t first_digits(const unsigned char *text, size_t length, uint64_t *number)
{
    const uint64_t pairs = UINT64_C(0x000000ff000000ff);
    size_t digits = 0;
    uint64_t word = 0;
    if (length < 4) {
        for (; digits < length && is_digit(text[digits]); digits++)
            word = word * 10 + (uint64_t)(text[digits] - '0');
        *number = word;
        return digits;
    }
    word = length >= 8 ? bytes_at(text, 8)
                       : bytes_at(text, 4) | bytes_at(text + length - 4, 4) << 8 * (length - 4);
    word ^= UINT64_C(0x3030303030303030);
    uint64_t other = (word + UINT64_C(0x7676767676767676)) | word; /* 0x80 in what is no digit */
    other &= UINT64_C(0x8080808080808080);
    digits = other ? (size_t)__builtin_ctzll(other) / 8 : 8;
    word = digits > 0 ? word << 8 * (8 - digits) : 0; /* with zeros before them */
    word = word * 10 + (word >> 8);                   /* of two digits, in every other byte */
    word = (word & pairs) * (100 + (UINT64_C(1000000) << 32)) +
           (word >> 16 & pairs) * (1 + (UINT64_C(10000) << 32));
    *number = word >> 32;
    return digits;
}

/* The digits that a text begins with, 16 at most, and their number. */
static inline size_t leading_digits(const unsigned char *text, size_t length, uint64_t *number)
{
    static const unsigned scale[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
    uint64_t more;
    size_t digits = first_digits(text, length, number);
    if (digits < 8 || length == 8)
        return digits;
    digits = first_digits(text + 8, length - 8, &more);
    *number = *number * scale[digits] + more;
    return 8 + digits;
}

static __attribute__((noinline)) int64_t any_nanoseconds(const unsigned char *text, size_t length)
{
    struct decimal number;
    int64_t nanoseconds;
    bool exact;
    if (!decimal_read(text, length, &number))
        return NUMBER_NONE;
    number.exponent += 3;
    return decimal_round(&number, &nanoseconds, &exact) ? nanoseconds : NUMBER_NONE;
}

int64_t number_nanoseconds(const unsigned char *text, size_t length)
{
    /* Fast path for nearly every time in a trace: up to 15 digits, or 16 that are not too many,
    ** then up to 3 decimals. */
    static const unsigned scale[] = {1000, 100, 10, 1};
    uint64_t value;
    size_t whole = leading_digits(text, length, &value), decimals = length - whole - 1;
    if (whole == 0 || value >= INT64_MAX / 1000 || (text[0] == '0' && whole > 1))
        return any_nanoseconds(text, length);
    if (whole == length)
        return (int64_t)(value * 1000);
    if (text[whole] == '.' && decimals >= 1 && decimals <= 3) {
        uint64_t part;
        if (leading_digits(text + whole + 1, decimals, &part) == decimals)
            return (int64_t)(value * 1000 + part * scale[decimals]);
    }
    return any_nanoseconds(text, length);
}

static __attribute__((noinline)) bool any_integer(const unsigned char *text, size_t length,
                                                  int64_t *integer)
{
    struct decimal number;
    bool exact = false;
    for (size_t i = 0; i < length; i++)
        if (!is_digit(text[i]) && (text[i] != '-' || i > 0))
            return false;
    return decimal_read(text, length, &number) && decimal_round(&number, integer, &exact);
}

bool number_integer(const unsigned char *text, size_t length, int64_t *integer)
{
    uint64_t few;
    size_t digits = leading_digits(text, length, &few);
    if (digits > 0 && digits == length && (digits == 1 || text[0] != '0')) { /* the usual form */
        *integer = (int64_t)few;
        return true;
    }
    return any_integer(text, length, integer);
}

bool number_is_valid(const unsigned char *text, size_t length)
{
    struct decimal number;
    return decimal_read(text, length, &number);
}
