/*
** text.h: what a JSON string says. The cases carry the numbers of its rules.
*/
#include "unit.h"

#include "text/text.h"

#define REPLACED "\xef\xbf\xbd" /* U+FFFD */

/* Decodes and compares; the counts are those of text.h, rules 1, 2 and 3. */
static bool check(const void *from, size_t length, const void *expected, size_t expected_length,
                  int escapes, int controls, int replaced)
{
    static unsigned char to[3 * 256 + 1];
    struct problems problems = {0};
    to[3 * length] = 0x5a;
    size_t written = text_decode(from, length, to, &problems, 9);
    bool held = CHECK_BYTES(to, written, expected, expected_length);
    held = CHECK_INT(to[3 * length], 0x5a) && held;
    held = CHECK_INT(problems.count[PROBLEM_ESCAPE], escapes) && held;
    held = CHECK_INT(problems.count[PROBLEM_CONTROL], controls) && held;
    held = CHECK_INT(problems.count[PROBLEM_UTF8], replaced) && held;
    if (escapes)
        held = CHECK_INT(problems.first_byte[PROBLEM_ESCAPE], 9) && held;
    for (int i = 0; i < PROBLEM_COUNT; i++)
        if (i != PROBLEM_ESCAPE && i != PROBLEM_CONTROL && i != PROBLEM_UTF8)
            held = CHECK_INT(problems.count[i], 0) && held;
    return held;
}

#define CASE(from, to, escapes, controls, replaced) \
    (unit_trying("%s", #from),                      \
     check(from, sizeof from - 1, to, sizeof to - 1, escapes, controls, replaced))

/* UTF-8 of a code point, by the bit distribution of Unicode table 3-6. */
static size_t encode(uint32_t code, unsigned char *to)
{
    static const uint32_t limits[] = {0x80, 0x800, 0x10000, 0x110000};
    static const unsigned char leads[] = {0, 0xc0, 0xe0, 0xf0};
    size_t more = 0;
    while (code >= limits[more])
        more++;
    for (size_t i = more; i > 0; i--, code /= 64)
        to[i] = (unsigned char)(0x80 + code % 64);
    to[0] = (unsigned char)(leads[more] + code);
    return more + 1;
}

TEST(valid_text_stays)
{
    CASE("", "", 0, 0, 0);
    CASE("aten::add", "aten::add", 0, 0, 0);
    CASE("\x7f", "\x7f", 0, 0, 0);
    CASE("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 0, 0, 0);
    CASE("\xef\xbb\xbfx\xef\xbf\xbf\xef\xbf\xbd", "\xef\xbb\xbfx\xef\xbf\xbf\xef\xbf\xbd", 0, 0, 0);
}

TEST(every_code_point_stays)
{
    for (uint32_t code = 0x20; code < 0x110000; code++) {
        unsigned char text[4];
        size_t length = encode(code, text);
        bool surrogate = code >= 0xd800 && code <= 0xdfff;
        unit_trying("U+%04X", code);
        if (code == '\\')
            continue;
        if (!check(text, length, surrogate ? (const void *)(REPLACED REPLACED REPLACED) : text,
                   surrogate ? 9 : length, 0, 0, surrogate ? 3 : 0))
            break;
    }
}

TEST(escapes)
{
    CASE("\\\"\\\\\\/\\b\\f\\n\\r\\t", "\"\\/\b\f\n\r\t", 0, 0, 0);
    CASE("a\\nb\\\\n", "a\nb\\n", 0, 0, 0);
    CASE("\\u0041\\u00e9\\u20AC\\uFfFf", "A\xc3\xa9\xe2\x82\xac\xef\xbf\xbf", 0, 0, 0);
    CASE("x\\u0000y", "x\0y", 0, 0, 0);
    CASE("\\u001f", "\x1f", 0, 0, 0);
    CASE("\\u00412", "A2", 0, 0, 0);
}

TEST(rule_1_unknown_escapes)
{
    CASE("\\d", "\\d", 1, 0, 0);
    CASE("C:\\Users\\x", "C:\\Users\\x", 2, 0, 0);
    CASE("\\", "\\", 1, 0, 0);
    CASE("a\\\\\\", "a\\\\", 1, 0, 0);
    CASE("\\u", "\\u", 1, 0, 0);
    CASE("\\u12", "\\u12", 1, 0, 0);
    CASE("\\u123", "\\u123", 1, 0, 0);
    CASE("\\u123g", "\\u123g", 1, 0, 0);
    CASE("\\U0041", "\\U0041", 1, 0, 0);
    CASE("\\u00\\n1", "\\u00\n1", 1, 0, 0);
    CASE("\\u+041", "\\u+041", 1, 0, 0);
    CASE("\\ud83d\\u12", REPLACED "\\u12", 1, 0, 1);
    CASE("\\\n", "\\\n", 1, 1, 0);
    CASE("\\\x80", "\\" REPLACED, 1, 0, 1);
}

/* A backslash and any byte, with another byte behind it. */
TEST(every_escape)
{
    static const char known[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
    for (int c = 0; c < 256; c++) {
        const char from[] = {'\\', (char)c, 'z'};
        const char *place = c ? strchr(known, c) : NULL;
        unit_trying("backslash and byte %02x", (unsigned)c);
        if (place) {
            const char to[] = {means[place - known], 'z'};
            check(from, 3, to, 2, 0, 0, 0);
        } else if (c >= 0x80) {
            check(from, 3, "\\" REPLACED "z", 5, 1, 0, 1);
        } else {
            check(from, 3, from, 3, 1, c < 0x20, 0);
        }
    }
}

TEST(every_unicode_escape)
{
    for (uint32_t code = 0; code < 0x10000; code++) {
        char from[8];
        unsigned char to[4];
        bool half = code >= 0xd800 && code <= 0xdfff;
        size_t length = encode(half ? 0xfffd : code, to);
        unit_trying("\\u%04x", code);
        snprintf(from, sizeof from, "\\u%04x", code);
        bool held = check(from, 6, to, length, 0, 0, half);
        snprintf(from, sizeof from, "\\u%04X", code);
        if (!held || !check(from, 6, to, length, 0, 0, half))
            break;
    }
}

TEST(surrogate_pairs)
{
    for (uint32_t code = 0x10000; code < 0x110000; code++) {
        char from[16];
        unsigned char to[4];
        uint32_t high = 0xd800 + (code - 0x10000) / 1024, low = 0xdc00 + code % 1024;
        size_t length = encode(code, to);
        if (code % 1024 > 2 && code % 1024 < 1020 && code % 61)
            continue; /* all high halves, with many low ones */
        unit_trying("\\u%04x\\u%04X", high, low);
        snprintf(from, sizeof from, "\\u%04x\\u%04X", high, low);
        if (!check(from, 12, to, length, 0, 0, 0))
            break;
    }
    CASE("\\ud83d\\ude00!", "\xf0\x9f\x98\x80!", 0, 0, 0);
}

TEST(rule_3_half_pairs)
{
    CASE("\\ud83d", REPLACED, 0, 0, 1);
    CASE("\\ude00", REPLACED, 0, 0, 1);
    CASE("\\ude00\\ud83d", REPLACED REPLACED, 0, 0, 2);
    CASE("\\ud83d\\ud83d\\ude00", REPLACED "\xf0\x9f\x98\x80", 0, 0, 1);
    CASE("\\ud83dx", REPLACED "x", 0, 0, 1);
    CASE("\\ud83d\\n", REPLACED "\n", 0, 0, 1);
    CASE("\\ud83d\\u0041", REPLACED "A", 0, 0, 1);
    CASE("\\ud83d\\udbff", REPLACED REPLACED, 0, 0, 2);
    CASE("\\ud83d\\ue000", REPLACED "\xee\x80\x80", 0, 0, 1);
    CASE("\\ud83d\\ude0", REPLACED "\\ude0", 1, 0, 1);
    CASE("\\ud83d\xf0\x9f\x98\x80", REPLACED "\xf0\x9f\x98\x80", 0, 0, 1);
}

TEST(rule_2_control_characters)
{
    CASE("a\nb\tc", "a\nb\tc", 0, 2, 0);
    CASE("\0", "\0", 0, 1, 0);
    for (int c = 0; c < 0x80; c++) {
        const char text[] = {'a', (char)c, 'b'};
        unit_trying("byte %02x", (unsigned)c);
        if (c != '\\')
            check(text, 3, text, 3, 0, c < 0x20, 0);
    }
}

/* Unicode 15, tables 3-8 to 3-11. */
TEST(rule_3_tables_of_unicode)
{
    CASE("\xc0\xaf\xe0\x80\xbf\xf0\x81\x82\x41",
         REPLACED REPLACED REPLACED REPLACED REPLACED REPLACED REPLACED REPLACED "A", 0, 0, 8);
    CASE("\xed\xa0\x80\xed\xbf\xbf\xed\xaf\x41",
         REPLACED REPLACED REPLACED REPLACED REPLACED REPLACED REPLACED REPLACED "A", 0, 0, 8);
    CASE("\xf4\x91\x92\x93\xff\x41\x80\xbf\x42",
         REPLACED REPLACED REPLACED REPLACED REPLACED "A" REPLACED REPLACED "B", 0, 0, 7);
    CASE("\xe1\x80\xe2\xf0\x91\x92\xf1\xbf\x41", REPLACED REPLACED REPLACED REPLACED "A", 0, 0, 4);
}

/* Unicode 15, table 3-7: the bytes that may stand at each place. */
static const struct {
    unsigned char low[4], high[4];
    size_t length;
} well_formed[] = {
    {{0x00}, {0x7f}, 1},
    {{0xc2, 0x80}, {0xdf, 0xbf}, 2},
    {{0xe0, 0xa0, 0x80}, {0xe0, 0xbf, 0xbf}, 3},
    {{0xe1, 0x80, 0x80}, {0xec, 0xbf, 0xbf}, 3},
    {{0xed, 0x80, 0x80}, {0xed, 0x9f, 0xbf}, 3},
    {{0xee, 0x80, 0x80}, {0xef, 0xbf, 0xbf}, 3},
    {{0xf0, 0x90, 0x80, 0x80}, {0xf0, 0xbf, 0xbf, 0xbf}, 4},
    {{0xf1, 0x80, 0x80, 0x80}, {0xf3, 0xbf, 0xbf, 0xbf}, 4},
    {{0xf4, 0x80, 0x80, 0x80}, {0xf4, 0x8f, 0xbf, 0xbf}, 4},
};

/* The longest beginning of `p` that is a sequence of the table, or a beginning of
** one; 1 if there is none. */
static size_t maximal_part(const unsigned char *p, size_t left, bool *whole)
{
    size_t longest = 1;
    *whole = false;
    for (size_t row = 0; row < sizeof well_formed / sizeof *well_formed; row++) {
        size_t i = 0;
        while (i < well_formed[row].length && i < left && p[i] >= well_formed[row].low[i] &&
               p[i] <= well_formed[row].high[i])
            i++;
        if (i >= longest) {
            longest = i;
            *whole = i == well_formed[row].length;
        }
    }
    return longest;
}

/* Bytes but the backslash against the table. */
static bool check_raw(const unsigned char *from, size_t length)
{
    unsigned char to[64];
    size_t written = 0;
    int controls = 0, replaced = 0;
    for (size_t i = 0; i < length;) {
        bool whole;
        size_t count = maximal_part(from + i, length - i, &whole);
        controls += from[i] < 0x20;
        replaced += !whole;
        memcpy(to + written, whole ? from + i : (const unsigned char *)REPLACED, whole ? count : 3);
        written += whole ? count : 3;
        i += count;
    }
    return check(from, length, to, written, 0, controls, replaced);
}

TEST(every_pair_of_bytes)
{
    for (unsigned first = 0; first < 256; first++)
        for (unsigned second = 0; second < 256; second++) {
            const unsigned char text[] = {(unsigned char)first, (unsigned char)second, 0x80};
            unit_trying("bytes %02x %02x", first, second);
            if (first == '\\' || second == '\\')
                continue;
            if (!check_raw(text, 2) || !check_raw(text, 3))
                return;
        }
}

/* Sequences of bytes at which the table changes. */
TEST(border_bytes)
{
    static const unsigned char borders[] = {0x00, 0x1f, 0x20, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f,
                                            0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec,
                                            0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff};
    for (int i = 0; i < unit_series(50000, 200000); i++) {
        unsigned char text[12];
        size_t length = unit_random(sizeof text + 1);
        for (size_t j = 0; j < length; j++)
            text[j] = borders[unit_random(sizeof borders)];
        unit_trying("sequence %d", i);
        if (!check_raw(text, length))
            return;
    }
}
