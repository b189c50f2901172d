/*
** ASCII letters, whatever the locale, and beginnings and ends of texts.
*/
#ifndef TRACEDIFF_ASCII_H
#define TRACEDIFF_ASCII_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static inline bool is_small(int c)
{
    return c >= 'a' && c <= 'z';
}

static inline bool is_capital(int c)
{
    return c >= 'A' && c <= 'Z';
}

static inline bool is_letter(int c)
{
    return is_small(c) || is_capital(c);
}

static inline bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static inline bool is_word(int c)
{
    return c == '_' || is_digit(c) || is_letter(c);
}

static inline int small(int c)
{
    return is_capital(c) ? c - 'A' + 'a' : c;
}

/* The value of a hexadecimal digit; -1 for anything else. */
static inline int hexadecimal(int c)
{
    return is_digit(c) ? c - '0' : small(c) >= 'a' && small(c) <= 'f' ? small(c) - 'a' + 10 : -1;
}

/* begins(): whether the text from `p` to `end` begins with another text. ends(): whether the
** text from `start` to `p` ends with it. */
static inline bool begins(const char *p, const char *end, const char *with)
{
    size_t length = strlen(with);
    return (size_t)(end - p) >= length && memcmp(p, with, length) == 0;
}

static inline bool ends(const char *start, const char *p, const char *with)
{
    size_t length = strlen(with);
    return (size_t)(p - start) >= length && memcmp(p - length, with, length) == 0;
}

static inline bool text_is(const void *text, size_t length, const char *expected)
{
    return length == strlen(expected) && memcmp(text, expected, length) == 0;
}

#endif
