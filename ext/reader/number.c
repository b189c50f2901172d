#include "number.h"

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

bool number_nanoseconds(const unsigned char *text, size_t length, int64_t *nanoseconds)
{
    /* Fast path for nearly every time in a trace: up to 16 digits, then up to 3 decimals. */
    uint64_t value = 0;
    size_t i = 0;
    for (; i < length && i <= 16 && is_digit(text[i]); i++)
        value = value * 10 + (uint64_t)(text[i] - '0');
    if (i > 0 && value < INT64_MAX / 1000 && (text[0] != '0' || i == 1)) {
        if (i == length) {
            *nanoseconds = (int64_t)(value * 1000);
            return true;
        }
        size_t decimals = length - i - 1;
        if (text[i] == '.' && decimals >= 1 && decimals <= 3) {
            uint64_t scale = 1000;
            for (i++; i < length && is_digit(text[i]); i++) {
                value = value * 10 + (uint64_t)(text[i] - '0');
                scale /= 10;
            }
            if (i == length) {
                *nanoseconds = (int64_t)(value * scale);
                return true;
            }
        }
    }
    struct decimal number;
    bool exact;
    if (!decimal_read(text, length, &number))
        return false;
    number.exponent += 3;
    return decimal_round(&number, nanoseconds, &exact);
}

bool number_integer(const unsigned char *text, size_t length, int64_t *integer)
{
    struct decimal number;
    bool exact = false;
    int64_t value = 0;
    size_t i = 0;
    for (; i < length && i < 18 && is_digit(text[i]); i++)
        value = value * 10 + (text[i] - '0');
    if (i < length || i == 0 || (i > 1 && text[0] == '0')) { /* not the usual form */
        for (i = 0; i < length; i++)
            if (!is_digit(text[i]) && (text[i] != '-' || i > 0))
                return false;
        if (!decimal_read(text, length, &number) || !decimal_round(&number, &value, &exact))
            return false;
    }
    *integer = value;
    return true;
}
