/*
** number.h: decimal text to integers. What is right is said by digit strings: the
** test's own way shares nothing with the one it checks.
*/
#include "unit.h"

#include <regex.h>

#include "text/number.h"

enum { UNTOUCHED = 77 };

static const unsigned char *bytes(const char *text)
{
    return (const unsigned char *)text;
}

static bool check_ns(const char *text, bool fits, int64_t expected)
{
    unit_trying("nanoseconds of %s", text);
    return CHECK_INT(number_nanoseconds(bytes(text), strlen(text)), fits ? expected : NUMBER_NONE);
}

static bool check_integer(const char *text, bool fits, int64_t expected)
{
    int64_t integer = UNTOUCHED;
    unit_trying("integer %s", text);
    bool held = CHECK_INT(number_integer(bytes(text), strlen(text), &integer), fits);
    return CHECK_INT(integer, fits ? expected : UNTOUCHED) && held;
}

TEST(plain_times)
{
    check_ns("0", true, 0);
    check_ns("-0", true, 0);
    check_ns("-0.0", true, 0);
    check_ns("1", true, 1000);
    check_ns("1.5", true, 1500);
    check_ns("0.001", true, 1);
    check_ns("-0.001", true, -1);
    check_ns("0.12", true, 120);
    check_ns("0.1234", true, 123);
    check_ns("10.010", true, 10010);
    check_ns("4857195842003.113", true, INT64_C(4857195842003113));
    check_ns("1718000000123456.789", true, INT64_C(1718000000123456789));
    check_ns("-1718000000123456.789", true, INT64_C(-1718000000123456789));
}

TEST(borders_of_times)
{
    check_ns("9223372036854774.999", true, INT64_C(9223372036854774999));
    check_ns("9223372036854775", true, INT64_C(9223372036854775000));
    check_ns("9223372036854775.807", true, INT64_MAX);
    check_ns("9223372036854775.8074", true, INT64_MAX);
    check_ns("9223372036854775.80749999999999999999", true, INT64_MAX);
    check_ns("9223372036854775.8075", false, 0); /* half, to the even ...808 */
    check_ns("9223372036854775.808", false, 0);
    check_ns("9223372036854776", false, 0);
    check_ns("-9223372036854775.807", true, -INT64_MAX);
    check_ns("-9223372036854775.8075", false, 0); /* INT64_MIN stands for none */
    check_ns("-9223372036854775.808", false, 0);
    check_ns("-9223372036854775.8085", false, 0);
    check_ns("-9223372036854775.80850001", false, 0);
    check_ns("-9223372036854775.809", false, 0);
    check_ns("18446744073709551.616", false, 0); /* 2^64 */
    check_ns("18446744073709551616", false, 0);
    check_ns("99999999999999999", false, 0); /* 17 digits */
    check_ns("9999999999999999.9", false, 0);
}

TEST(exponents)
{
    check_ns("1e0", true, 1000);
    check_ns("1E3", true, 1000000);
    check_ns("1e+3", true, 1000000);
    check_ns("1e-3", true, 1);
    check_ns("1e-4", true, 0);
    check_ns("5e-4", true, 0);
    check_ns("15e-4", true, 2);
    check_ns("1.7180000001234567e15", true, INT64_C(1718000000123456700));
    check_ns("9.223372036854775807e15", true, INT64_MAX);
    check_ns("9.223372036854775808e15", false, 0);
    check_ns("1e15", true, INT64_C(1000000000000000000));
    check_ns("1e16", false, 0);
    check_ns("1e00000000000000000000015", true, INT64_C(1000000000000000000));
    check_ns("0e99999999999999999999", true, 0);
    check_ns("0.000e-99999999999999999999", true, 0);
    check_ns("1e99999999999999999999", false, 0);
    check_ns("1e18446744073709551616", false, 0);
    check_ns("1e9223372036854775807", false, 0);
    check_ns("1e-9223372036854775808", true, 0);
    check_ns("-1e-99999999999999999999", true, 0);
    check_ns("123456789012345678901234567890e-20", true, INT64_C(1234567890123));
    check_ns("0.00000000000000000000000000012e30", true, INT64_C(120000));
}

TEST(half_goes_to_even)
{
    check_ns("0.0005", true, 0);
    check_ns("0.00050", true, 0);
    check_ns("0.00050000000000000000000001", true, 1);
    check_ns("0.00049999999999999999999999", true, 0);
    check_ns("0.0015", true, 2);
    check_ns("0.0025", true, 2);
    check_ns("0.0035", true, 4);
    check_ns("-0.0005", true, 0);
    check_ns("-0.0015", true, -2);
    check_ns("-0.0025", true, -2);
    check_ns("1718000000123456.7885", true, INT64_C(1718000000123456788));
    check_ns("1718000000123456.7895", true, INT64_C(1718000000123456790));
    check_ns("0.9995", true, 1000);
    check_ns("999999999999999.9995", true, INT64_C(1000000000000000000));
}

/* Digits far beyond what fits, which all count. */
TEST(long_digit_strings)
{
    enum { ZEROS = 100000 };
    static char text[ZEROS + 100];
    memcpy(text, "1.0005", 6);
    memset(text + 6, '0', ZEROS);
    text[6 + ZEROS] = 0;
    check_ns(text, true, 1000);
    text[6 + ZEROS - 1] = '1';
    check_ns(text, true, 1001);
    text[0] = '0';
    memset(text + 2, '0', ZEROS);
    snprintf(text + ZEROS, 100, "25e%d", ZEROS);
    check_ns(text, true, 25000);
    text[0] = '1';
    memset(text + 1, '0', ZEROS);
    snprintf(text + 1 + ZEROS, 90, "e-%d", ZEROS);
    check_ns(text, true, 1000);
    text[1 + ZEROS] = 0;
    check_ns(text, false, 0);
    check_integer(text, false, 0);
}

static const char *const not_numbers[] = {
    "",     "-",    "+1",   ".5",   "5.",    "-.5",  "00",    "01",    "-01",   "0x1", "1e",
    "1e+",  "1e-",  "1e1.", "1.e1", "e1",    "1..2", "1.2.3", "--1",   "1-",    " 1",  "1 ",
    "1,2",  "inf",  "NaN",  "nan",  "null",  "1f",   "1_0",   "1e1e1", "1.5.",  "12a", "00.5",
    "1.5a", "1.-5", "1.5-", "1/2",  "\"1\"", "-e5",  "0e",    "0.e",   "1e++1", "1.2 "};

TEST(what_is_no_number)
{
    int64_t unused;
    for (size_t i = 0; i < sizeof not_numbers / sizeof *not_numbers; i++) {
        check_ns(not_numbers[i], false, 0);
        check_integer(not_numbers[i], false, 0);
        CHECK(!number_is_valid(bytes(not_numbers[i]), strlen(not_numbers[i])));
    }
    CHECK_INT(number_nanoseconds(bytes("1\0"), 2), NUMBER_NONE);
    CHECK(!number_integer(bytes("1\0"), 2, &unused));
    CHECK(!number_is_valid(bytes("1\0"), 2));
    CHECK(number_is_valid(bytes("-0.50e+3"), 8));
}

TEST(integers)
{
    check_integer("0", true, 0);
    check_integer("-0", true, 0);
    check_integer("7", true, 7);
    check_integer("-7", true, -7);
    check_integer("9223372036854775807", true, INT64_MAX);
    check_integer("9223372036854775808", false, 0);
    check_integer("-9223372036854775808", true, INT64_MIN);
    check_integer("-9223372036854775809", false, 0);
    check_integer("10000000000000000000", false, 0);
    check_integer("18446744073709551615", false, 0);
    check_integer("18446744073709551617", false, 0);
    check_integer("92233720368547758070", false, 0);
    check_integer("1.0", false, 0);
    check_integer("1e0", false, 0);
    check_integer("1e2", false, 0);
}

/* Only `length` bytes belong to the number, whatever follows. */
TEST(text_goes_on_behind)
{
    int64_t number = 0;
    CHECK_INT(number_nanoseconds(bytes("12.345678"), 4), 12300);
    CHECK_INT(number_nanoseconds(bytes("123"), 2), 12000);
    CHECK_INT(number_nanoseconds(bytes("12.3"), 3), NUMBER_NONE);
    CHECK(number_integer(bytes("12.3"), 2, &number));
    CHECK_INT(number, 12);
}

/* The slow way: the number's digits as a string, its point moved along it. False
** for what is not a number or does not fit. */
static bool slow_number(const regex_t *grammar, const char *text, int shift, int64_t *result)
{
    static char digits[1000];
    int count = 0, point = 0, exponent = 0;
    const char *p = text;
    if (regexec(grammar, text, 0, NULL, 0) != 0)
        return false;
    bool negative = *p == '-';
    digits[count++] = '0'; /* for a carry */
    point = count;
    for (p += negative; *p >= '0' && *p <= '9'; p++, point++)
        digits[count++] = *p;
    if (*p == '.')
        for (p++; *p >= '0' && *p <= '9'; p++)
            digits[count++] = *p;
    if (*p) { /* 200 is beyond the digits of any text here */
        long written = strtol(p + 1, NULL, 10);
        exponent = written > 200 ? 200 : written < -200 ? -200 : (int)written;
    }
    point += exponent + shift;
    while (point < 1) { /* zeros before */
        memmove(digits + 1, digits, (size_t)count++);
        digits[0] = '0';
        point++;
    }
    while (count <= point) /* and behind */
        digits[count++] = '0';
    bool above = false;
    for (int i = point + 1; i < count; i++)
        above = above || digits[i] != '0';
    bool odd = (digits[point - 1] - '0') % 2 == 1;
    if (digits[point] > '5' || (digits[point] == '5' && (above || odd))) {
        int i = point - 1;
        for (; digits[i] == '9'; i--)
            digits[i] = '0';
        digits[i]++;
    }
    int first = 0;
    while (first < point - 1 && digits[first] == '0')
        first++;
    const char *limit = negative ? "9223372036854775808" : "9223372036854775807";
    int length = point - first;
    if (length > 19 || (length == 19 && memcmp(digits + first, limit, 19) > 0))
        return false;
    *result = 0; /* counted downwards: INT64_MIN has no opposite */
    for (int i = first; i < point; i++)
        *result = *result * 10 - (digits[i] - '0');
    *result = negative ? *result : -*result;
    return true;
}

static char *put_digits(char *to, uint32_t count)
{
    uint32_t kind = unit_random(8); /* runs of one digit make ties and carries */
    for (uint32_t i = 0; i < count; i++)
        *to++ = (char)(kind == 0   ? '9'
                       : kind == 1 ? '0'
                       : kind == 2 ? (i + 1 == count ? '5' : '0')
                                   : '0' + (int)unit_random(10));
    return to;
}

static void make_number(char *to)
{
    if (unit_random(3) == 0)
        *to++ = '-';
    if (unit_random(8) == 0) { /* near the borders */
        to += sprintf(to, "922337203685477%u", unit_random(10));
        to += unit_random(2) ? sprintf(to, ".%03u", 800 + unit_random(16)) : 0;
    } else if (unit_random(6) == 0) {
        *to++ = '0';
    } else {
        *to++ = (char)('1' + (int)unit_random(9));
        to = put_digits(to, unit_random(unit_random(4) ? 20 : 40));
    }
    if (unit_random(3) > 0) {
        if (!strchr(to - 4, '.'))
            *to++ = '.';
        to = put_digits(to, 1 + unit_random(unit_random(4) ? 8 : 40));
    }
    if (unit_random(3) == 0)
        to += sprintf(to, "%c%s%u", unit_random(2) ? 'e' : 'E',
                      unit_random(2)   ? "-"
                      : unit_random(2) ? "+"
                                       : "",
                      unit_random(40));
    *to = 0;
}

TEST(random_numbers)
{
    regex_t grammar;
    char text[200] = "";
    int valid = 0;
    CHECK_INT(regcomp(&grammar, "^-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][-+]?[0-9]+)?$",
                      REG_EXTENDED | REG_NOSUB),
              0);
    for (int i = 0; i < 100000; i++) {
        int64_t expected = 0;
        memset(text, 0, sizeof text);
        make_number(text + 8);
        size_t length = strlen(text + 8);
        memmove(text, text + 8, length + 1);
        if (unit_random(10) == 0)
            text[unit_random((uint32_t)length)] = "0123456789.-+eE x"[unit_random(17)];
        bool fits = slow_number(&grammar, text, 3, &expected);
        valid += fits;
        bool held = check_ns(text, fits, expected);
        fits = !strpbrk(text, ".eE") && slow_number(&grammar, text, 0, &expected);
        if (!check_integer(text, fits, expected) || !held)
            break;
    }
    CHECK(valid > 20000);
    regfree(&grammar);
}
