/*
** Finds the tokens of JSON text in memory. Values are not decoded, and nothing is allocated.
**
** The text ends at `scan.end`. SCAN_PADDING zero bytes must follow it: they may be read, so that
** loops need not compare every byte with the end.
**
** A function returns the byte after what it has read, or NULL. `scan.bad` is then the byte that
** cannot be JSON, or NULL if the text ended too early: the caller calls again with more text.
**
** The scanner accepts more than JSON: brackets are counted, but only the last one must match the
** first, and any bare word is a value (`inf`, `N/A`). After a string, a letter or one of
** @ \ ^ _ ` | ~ is an error: it shows that an unescaped quote has swapped the inside and the
** outside of strings.
*/
#ifndef TRACEDIFF_SCAN_H
#define TRACEDIFF_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SCAN_PADDING = 256, WANTED_LENGTH = 16 };

struct scan {
    const unsigned char *end;
    const unsigned char *bad;
};

enum token_kind {
    TOKEN_NONE,     /* absent */
    TOKEN_TEXT,     /* a string of printable ASCII without escapes */
    TOKEN_ODD_TEXT, /* any other string: text_decode() decodes it */
    TOKEN_BARE,     /* a number or a word */
    TOKEN_NESTED    /* an object or an array, with its brackets */
};

struct token {
    const unsigned char *at; /* for strings, the byte after the opening quote */
    size_t length;           /* for strings, without the quotes */
    enum token_kind kind;
};

/* A key to find in an object, and its value: the first one if the key is there twice. */
struct wanted {
    const char *key;
    size_t length;
    struct token value;
};

/* Skips white space. */
static inline const unsigned char *scan_space(const unsigned char *p)
{
    const uint64_t spaces =
        (uint64_t)1 << ' ' | (uint64_t)1 << '\n' | (uint64_t)1 << '\r' | (uint64_t)1 << '\t';
    while (*p <= ' ' && spaces >> *p & 1)
        p++;
    return p;
}

/* Sets `scan.bad` to `p`, unless the text ends there. Always returns NULL. */
static inline const unsigned char *scan_stop(struct scan *scan, const unsigned char *p)
{
    if (p < scan->end)
        scan->bad = p;
    return NULL;
}

/* Goes from the byte after an opening quote to the closing quote. Sets `*kind` to TOKEN_ODD_TEXT
** if the string is one. */
const unsigned char *scan_string(struct scan *scan, const unsigned char *p, enum token_kind *kind);

/* Goes from the first byte of a value to the byte after it. */
const unsigned char *scan_value(struct scan *scan, const unsigned char *p, struct token *token);

/* Goes from the byte after the opening bracket of an object or an array to the byte after its
** closing bracket, which must be `close`. Finds the values of `wanted` among the keys of the
** object itself, not of nested ones. Wanted keys must begin with `s` or `c`, and have at most
** WANTED_LENGTH bytes. */
const unsigned char *scan_nested(struct scan *scan, const unsigned char *p, unsigned char close,
                                 struct wanted *wanted, size_t wanted_count);

/* Gets the value of a key of a whole object (a TOKEN_NESTED); false if there is none. */
bool scan_member(const struct token *object, const char *key, struct token *value);

/* Gets the values of several keys, TOKEN_NONE of those that are not there. */
void scan_members(const struct token *object, const char *const *keys, size_t count,
                  struct token *values);

/* Whether a token is a string that decodes to `text` (text_says()). */
bool scan_equal(const struct token *token, const char *text);

/* The end of a key or value of strict JSON that begins at `p`: the `,`, `:`, `}` or `]` after it,
** or `end`. No padding is needed. */
const char *scan_strict_end(const char *p, const char *end);

#endif
