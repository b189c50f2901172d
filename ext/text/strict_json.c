#include "strict_json.h"

#include <string.h>

#include "ascii.h"

/* The byte after white space. */
static const unsigned char *past_space(const unsigned char *p, const unsigned char *end)
{
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r'))
        p++;
    return p;
}

/* The functions below go past a value that begins at `p`; NULL if none does. */

static const unsigned char *past_string(const unsigned char *p, const unsigned char *end)
{
    for (p++; p < end && *p != '"'; p++) {
        if (*p < ' ')
            return NULL;
        if (*p != '\\')
            continue;
        if (++p == end || !strchr("\"\\/bfnrtu", *p) || !*p)
            return NULL;
        for (int i = 0; *p == 'u' && i < 4; i++)
            if (p + 1 + i >= end || hexadecimal(p[1 + i]) < 0)
                return NULL;
    }
    return p < end ? p + 1 : NULL;
}

static const unsigned char *past_digits(const unsigned char *p, const unsigned char *end)
{
    const unsigned char *from = p;
    while (p < end && is_digit(*p))
        p++;
    return p > from ? p : NULL;
}

static const unsigned char *past_number(const unsigned char *p, const unsigned char *end)
{
    p += p < end && *p == '-';
    if (p < end && *p == '0')
        p++;
    else if (!(p = past_digits(p, end)))
        return NULL;
    if (p < end && *p == '.' && !(p = past_digits(p + 1, end)))
        return NULL;
    if (p < end && (*p | 0x20) == 'e') {
        p++;
        p += p < end && (*p == '-' || *p == '+');
        p = past_digits(p, end);
    }
    return p;
}

static const unsigned char *past_word(const unsigned char *p, const unsigned char *end)
{
    static const char *const words[] = {"null", "true", "false", "NaN", "Infinity", "-Infinity"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t length = strlen(words[i]);
        if ((size_t)(end - p) >= length && memcmp(p, words[i], length) == 0)
            return p + length;
    }
    return past_number(p, end);
}

static const unsigned char *past_key(const unsigned char *p, const unsigned char *end)
{
    if (p == end || *p != '"' || !(p = past_string(p, end)))
        return NULL;
    p = past_space(p, end);
    return p < end && *p == ':' ? past_space(p + 1, end) : NULL;
}

bool json_is_strict(const unsigned char *text, size_t length)
{
    const unsigned char *end = text + length, *p = past_space(text, end);
    unsigned char closes[STRICT_DEPTH];
    size_t depth = 0;
    for (;;) {
        if (p == end)
            return false;
        if (*p == '{' || *p == '[') {
            if (depth == STRICT_DEPTH)
                return false;
            closes[depth++] = *p == '{' ? '}' : ']';
            p = past_space(p + 1, end);
            if (p < end && *p != closes[depth - 1]) {
                if (closes[depth - 1] == '}' && !(p = past_key(p, end)))
                    return false;
                continue;
            }
        } else {
            p = *p == '"' ? past_string(p, end) : past_word(p, end);
            if (!p)
                return false;
            p = past_space(p, end);
        }
        while (depth > 0 && p < end && *p == closes[depth - 1]) {
            depth--;
            p = past_space(p + 1, end);
        }
        if (depth == 0)
            return p == end;
        if (p == end || *p != ',')
            return false;
        p = past_space(p + 1, end);
        if (closes[depth - 1] == '}' && !(p = past_key(p, end)))
            return false;
    }
}
