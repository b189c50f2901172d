#include "json_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "text/text.h"

void json_put(struct json_text *json, const char *text, size_t length)
{
    json->full = json->full || (json->most > 0 && length > json->most - json->length);
    if (json->full)
        return;
    if (json->failed || !MEMORY_GROW(json->bytes, json->capacity, json->length + length)) {
        json->failed = true;
        return;
    }
    if (length > 0)
        memcpy(json->bytes + json->length, text, length);
    json->length += length;
}

void json_word(struct json_text *json, const char *word)
{
    json_put(json, word, strlen(word));
}

/* Whether a text needs no escapes. */
static bool is_plain(const unsigned char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] < 0x20 || text[i] >= 0x80 || text[i] == '"' || text[i] == '\\')
            return false;
    return true;
}

static void put_escaped(struct json_text *json, const char *text, size_t length)
{
    static const char hexadecimal[] = "0123456789abcdef";
    char escape[] = "\\u0000";
    size_t from = 0;
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c >= 0x20 && c != '"' && c != '\\')
            continue;
        json_put(json, text + from, i - from);
        from = i + 1;
        if (c < 0x20) {
            escape[4] = hexadecimal[c >> 4];
            escape[5] = hexadecimal[c & 15];
            json_put(json, escape, sizeof escape - 1);
        } else {
            json_put(json, "\\", 1);
            json_put(json, text + i, 1);
        }
    }
    json_put(json, text + from, length - from);
}

void json_quoted(struct json_text *json, const void *text, size_t length)
{
    json_put(json, "\"", 1);
    if (json->full) {
        return; /* saves escaping one long text again and again */
    } else if (is_plain(text, length)) {
        json_put(json, text, length);
    } else {
        char *repaired = text_repaired(text, &length);
        if (repaired)
            put_escaped(json, repaired, length);
        else
            json->failed = true;
        memory_free(repaired);
    }
    json_put(json, "\"", 1);
}

void json_comma(struct json_text *json)
{
    if (json->length > 0 && json->bytes[json->length - 1] != '{' &&
        json->bytes[json->length - 1] != '[')
        json_put(json, ",", 1);
}

void json_key(struct json_text *json, const void *key, size_t length)
{
    json_comma(json);
    json_quoted(json, key, length);
    json_put(json, ":", 1);
}

void json_signed(struct json_text *json, int64_t value)
{
    char text[24];
    json_put(json, text, (size_t)snprintf(text, sizeof text, "%lld", (long long)value));
}

void json_unsigned(struct json_text *json, uint64_t value)
{
    char text[24];
    json_put(json, text, (size_t)snprintf(text, sizeof text, "%llu", (unsigned long long)value));
}

enum { LIMB = 1000000000, LIMB_DIGITS = 9, LIMBS = 96, DIGITS = LIMBS * LIMB_DIGITS };

/* A number of decimal digits, the lowest limb first. */
struct long_decimal {
    uint32_t limbs[LIMBS];
    size_t count;
};

static void multiply(struct long_decimal *decimal, uint32_t by)
{
    uint64_t carry = 0;
    for (size_t i = 0; i < decimal->count; i++) {
        carry += (uint64_t)decimal->limbs[i] * by;
        decimal->limbs[i] = (uint32_t)(carry % LIMB);
        carry /= LIMB;
    }
    if (carry > 0)
        decimal->limbs[decimal->count++] = (uint32_t)carry;
}

/* Writes all digits of a positive number without leading zeros and returns their count. The number
** equals the digits times 10 to the power of `*exponent`. */
static size_t digits_of(double value, char digits[DIGITS], int *exponent)
{
    enum { BITS = 53 };
    int power;
    uint64_t mantissa = (uint64_t)ldexp(frexp(value, &power), BITS);
    struct long_decimal decimal = {{(uint32_t)(mantissa % LIMB), (uint32_t)(mantissa / LIMB)}, 2};
    power -= BITS;
    *exponent = power < 0 ? power : 0; /* n / 2^k = n * 5^k / 10^k */
    for (int i = 0; i < abs(power); i++)
        multiply(&decimal, power < 0 ? 5 : 2);
    size_t length = decimal.count * LIMB_DIGITS, zeros = 0;
    for (size_t i = 0; i < decimal.count; i++)
        for (size_t digit = 0; digit < LIMB_DIGITS; digit++, decimal.limbs[i] /= 10)
            digits[length - 1 - i * LIMB_DIGITS - digit] = (char)('0' + decimal.limbs[i] % 10);
    while (zeros + 1 < length && digits[zeros] == '0')
        zeros++;
    memmove(digits, digits + zeros, length - zeros);
    return length - zeros;
}

/* Rounds to `most` digits, drops trailing zeros, and returns the number of digits left. */
static size_t round_digits(char *digits, size_t length, size_t most, int *exponent)
{
    if (length > most) {
        bool up = digits[most] >= '5';
        *exponent += (int)(length - most);
        length = most;
        for (size_t i = length; up && i > 0; i--) {
            up = digits[i - 1] == '9';
            digits[i - 1] = up ? '0' : (char)(digits[i - 1] + 1);
        }
        if (up) { /* all digits were nines */
            digits[0] = '1';
            *exponent += 1;
        }
    }
    for (; length > 1 && digits[length - 1] == '0'; length--)
        *exponent += 1;
    return length;
}

/* Whether up to 15 digits give exactly this double. Both operands are exact for powers of 10 up to
** 22, so the result is rounded only once. */
static bool is_number(const char *digits, size_t length, int exponent, double value)
{
    enum { MOST = 22 };
    double read = 0, power = 1;
    if (abs(exponent) > MOST)
        return false;
    for (size_t i = 0; i < length; i++)
        read = 10 * read + (digits[i] - '0');
    for (int i = 0; i < abs(exponent); i++)
        power *= 10;
    return (exponent < 0 ? read / power : read * power) == value;
}

void json_double(struct json_text *json, double value)
{
    enum { SHORT = 15, LONG = 17, WIDEST = 21 };
    char digits[DIGITS];
    int exponent;
    if (!isfinite(value)) {
        json_word(json, isnan(value) ? "\"NaN\"" : value > 0 ? "\"Infinity\"" : "\"-Infinity\"");
        return;
    }
    json_put(json, "-", signbit(value) != 0);
    if (value == 0) {
        json_word(json, "0.0");
        return;
    }
    size_t length = digits_of(fabs(value), digits, &exponent);
    length = round_digits(digits, length, SHORT, &exponent);
    if (!is_number(digits, length, exponent, fabs(value))) {
        length = digits_of(fabs(value), digits, &exponent);
        length = round_digits(digits, length, LONG, &exponent);
    }
    int point = (int)length + exponent; /* number of digits before the point */
    if (point > WIDEST || point < -5) {
        json_put(json, digits, 1);
        json_put(json, ".", length > 1);
        json_put(json, digits + 1, length - 1);
        json_put(json, "e", 1);
        json_signed(json, point - 1);
        return;
    }
    if (point <= 0) {
        json_word(json, "0.");
        for (int i = point; i < 0; i++)
            json_put(json, "0", 1);
        json_put(json, digits, length);
        return;
    }
    for (int i = 0; i < point; i++)
        json_put(json, i < (int)length ? &digits[i] : "0", 1);
    json_put(json, ".", 1);
    json_put(json, point < (int)length ? digits + point : "0",
             point < (int)length ? length - (size_t)point : 1);
}
