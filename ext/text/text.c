#include "text.h"

#include "ascii.h"
#include "base/memory.h"

size_t text_put(unsigned char *to, uint32_t character)
{
    static const unsigned char leads[] = {0, 0, 0xc0, 0xe0, 0xf0};
    size_t length = character < 0x80 ? 1 : character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
    for (size_t i = length; --i > 0; character >>= 6)
        to[i] = (unsigned char)(0x80 | (character & 0x3f));
    to[0] = (unsigned char)(leads[length] | character);
    return length;
}

size_t text_sequence(const unsigned char *p, const unsigned char *end, bool *whole)
{
    unsigned char first = *p, low = 0x80, high = 0xbf;
    size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    *whole = first < 0x80;
    if (first < 0xc2 || first > 0xf4)
        return 1;
    if (first == 0xe0)
        low = 0xa0;
    else if (first == 0xed)
        high = 0x9f;
    else if (first == 0xf0)
        low = 0x90;
    else if (first == 0xf4)
        high = 0x8f;
    for (size_t i = 1; i < length; i++) {
        if (p + i == end || p[i] < low || p[i] > high)
            return i;
        low = 0x80;
        high = 0xbf;
    }
    *whole = true;
    return length;
}

int32_t text_unit(const unsigned char *p, const unsigned char *end)
{
    int32_t unit = 0;
    if (end - p < 6 || p[0] != '\\' || p[1] != 'u')
        return -1;
    for (int i = 2; i < 6; i++) {
        if (hexadecimal(p[i]) < 0)
            return -1;
        unit = unit << 4 | hexadecimal(p[i]);
    }
    return unit;
}

/* Decodes the escape at `*at` and moves `*at` past it; false if it is not a valid escape. */
static inline bool decode_escape(const unsigned char **at, const unsigned char *end,
                                 uint32_t *code, bool *half)
{
    static const char plain[] = "\"\"\\\\//b\bf\fn\nr\rt\t";
    const unsigned char *p = *at + 1;
    if (p == end)
        return false;
    if (*p != 'u') {
        for (const char *pair = plain; *pair; pair += 2)
            if ((unsigned char)*pair == *p) {
                *code = (unsigned char)pair[1];
                *at = p + 1;
                return true;
            }
        return false;
    }
    int32_t unit = text_unit(*at, end);
    if (unit < 0)
        return false;
    p += 5;
    *code = (uint32_t)unit;
    if (unit >= 0xd800 && unit <= 0xdfff) {
        int32_t low = unit <= 0xdbff ? text_unit(p, end) : -1;
        if (low >= 0xdc00 && low <= 0xdfff) {
            *code = 0x10000 + (((uint32_t)unit & 0x3ff) << 10 | ((uint32_t)low & 0x3ff));
            p += 6;
        } else {
            *code = 0xfffd;
            *half = true;
        }
    }
    *at = p;
    return true;
}

/* Copies a sequence that begins with a byte from 0x80 on, and moves both pointers past it.
** Writes U+FFFD for a part that is not UTF-8, and then returns false. */
static bool copy_sequence(const unsigned char **from, const unsigned char *end, unsigned char **to)
{
    bool whole;
    size_t count = text_sequence(*from, end, &whole);
    if (whole) {
        memcpy(*to, *from, count);
        *to += count;
    } else {
        *to += text_put(*to, 0xfffd);
    }
    *from += count;
    return whole;
}

size_t text_repair(const unsigned char *from, size_t length, unsigned char *to)
{
    const unsigned char *end = from + length;
    unsigned char *out = to;
    while (from < end) {
        if (*from < 0x80)
            *out++ = *from++;
        else
            copy_sequence(&from, end, &out);
    }
    return (size_t)(out - to);
}

char *text_repaired(const char *text, size_t *length)
{
    unsigned char *repaired = memory_allocate(3 * *length + 1);
    if (repaired) {
        *length = text_repair((const unsigned char *)text, *length, repaired);
        repaired[*length] = 0;
    }
    return (char *)repaired;
}

size_t text_decode(const unsigned char *from, size_t length, unsigned char *to,
                   struct problems *problems, int64_t byte)
{
    const unsigned char *p = from, *end = from + length;
    unsigned char *out = to;
    while (p < end) {
        if (*p == '\\') {
            uint32_t code;
            bool half = false;
            if (decode_escape(&p, end, &code, &half)) {
                out += text_put(out, code);
            } else {
                problem_add(problems, PROBLEM_ESCAPE, byte);
                *out++ = *p++;
            }
            if (half)
                problem_add(problems, PROBLEM_UTF8, byte);
        } else if (*p < 0x80) {
            if (*p < 0x20)
                problem_add(problems, PROBLEM_CONTROL, byte);
            *out++ = *p++;
        } else if (!copy_sequence(&p, end, &out)) {
            problem_add(problems, PROBLEM_UTF8, byte);
        }
    }
    return (size_t)(out - to);
}

bool text_says(const unsigned char *from, size_t length, const char *expected)
{
    const unsigned char *p = from, *end = from + length;
    for (; *expected; expected++) {
        uint32_t code;
        bool half;
        if (p == end)
            return false;
        if (*p != '\\')
            code = *p++;
        else if (!decode_escape(&p, end, &code, &half))
            return false;
        if (code != (unsigned char)*expected)
            return false;
    }
    return p == end;
}

size_t text_visible(char *text, size_t length)
{
    enum { REPLACEMENT = 0xfffd };
    unsigned char *bytes = (unsigned char *)text, *to = bytes;
    const unsigned char *from = bytes, *end = bytes + length;
    while (from < end) {
        bool whole;
        size_t count = text_sequence(from, end, &whole);
        uint32_t c = count == 1   ? from[0]
                     : count == 2 ? (from[0] & 0x1fu) << 6 | (from[1] & 0x3fu)
                     : count == 3 ? (from[0] & 0xfu) << 12 | (from[1] & 0x3fu) << 6 |
                                        (from[2] & 0x3fu)
                                  : UINT32_MAX;
        if (whole && text_acts(c)) {
            to += text_put(to, count < 3 ? ' ' : REPLACEMENT);
            from += count;
        } else {
            while (count-- > 0)
                *to++ = *from++;
        }
    }
    return (size_t)(to - bytes);
}

int text_order(const char *a, const char *b)
{
    const char *x = a, *y = b;
    while (*x && *y) {
        if (!is_digit(*x) || !is_digit(*y)) {
            if (*x != *y)
                break;
            x++, y++;
            continue;
        }
        size_t i = strspn(x, "0"), j = strspn(y, "0");
        size_t m = strspn(x + i, "0123456789"), n = strspn(y + j, "0123456789");
        int order = m != n ? (m > n) - (m < n) : memcmp(x + i, y + j, m);
        if (order)
            return order;
        x += i + m;
        y += j + n;
    }
    return *x != *y ? (unsigned char)*x - (unsigned char)*y : strcmp(a, b);
}
