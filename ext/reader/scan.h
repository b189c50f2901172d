/*
** Walking over JSON text in memory.
**
** The text lies between a pointer and `scan.end`; SCAN_PADDING zero bytes after
** the end may be read, so that no loop has to look for the end at every byte.
** A function returns where it stopped, or NULL: then `scan.bad` is the byte that
** cannot be JSON, or NULL if the text merely ended too early and the caller
** should come back with more of it. Nothing here allocates or looks at what a
** value means; strings stay as they stand between their quotes.
**
** The walker is as tolerant as a trace needs: brackets are counted, and only the last is matched,
** and any bare word passes for a value (`inf`, `N/A`). After a string, a
** letter or one of @ \ ^ _ ` | ~ is an error: it shows that an unescaped quote has swapped
** what is inside of strings and what is outside.
*/
#ifndef TRACEDIFF_SCAN_H
#define TRACEDIFF_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SCAN_PADDING = 64 };

struct scan {
    const unsigned char *end;
    const unsigned char *bad;
};

enum token_kind {
    TOKEN_NONE,     /* not there */
    TOKEN_TEXT,     /* a string of printable ASCII without escapes */
    TOKEN_ODD_TEXT, /* any other string: text_decode() knows what it says */
    TOKEN_BARE,     /* a number or a word */
    TOKEN_NESTED    /* an object or an array, with its brackets */
};

struct token {
    const unsigned char *at; /* for strings, the byte after the quote */
    size_t length;
    enum token_kind kind;
};

/* A key to look for while an object is crossed, and the value found: the first
** one, if the key is there twice. */
struct wanted {
    const char *key;
    size_t length;
    struct token value;
};

static inline const unsigned char *scan_space(const unsigned char *p)
{
    const uint64_t spaces =
        (uint64_t)1 << ' ' | (uint64_t)1 << '\n' | (uint64_t)1 << '\r' | (uint64_t)1 << '\t';
    while (*p <= ' ' && spaces >> *p & 1)
        p++;
    return p;
}

/* Says at `p` that the text cannot be JSON, or ended. Always returns NULL. */
static inline const unsigned char *scan_stop(struct scan *scan, const unsigned char *p)
{
    if (p < scan->end)
        scan->bad = p;
    return NULL;
}

/* From the byte after an opening quote to its closing quote; TOKEN_ODD_TEXT is
** noted in `*kind` if need be. */
const unsigned char *scan_string(struct scan *scan, const unsigned char *p, enum token_kind *kind);

/* From the first byte of a value to the byte after it. */
const unsigned char *scan_value(struct scan *scan, const unsigned char *p, struct token *token);

/* From inside of an object or an array to the byte after the bracket that closes it,
** which must be `close`. Keys of the object itself are looked for: those of
** `wanted`, whose keys must begin with `s` or `c`. */
const unsigned char *scan_nested(struct scan *scan, const unsigned char *p, unsigned char close,
                                 struct wanted *wanted, size_t wanted_count);

/* The same from any byte in it that no backslash stands before. */
struct nesting {
    int64_t depth;     /* brackets that are open, the object's own included */
    bool in_string;    /* the byte before is in a string, or begins one */
    bool after_string; /* the byte before ends one */
};
const unsigned char *scan_nested_from(struct scan *scan, const unsigned char *p,
                                      struct nesting nesting, unsigned char close,
                                      struct wanted *wanted, size_t wanted_count);

/* The value of a key of a whole object (a TOKEN_NESTED); false if there is none. */
bool scan_member(const struct token *object, const char *key, struct token *value);

/* Whether a token is a string that says just this (ASCII, without quotes). */
bool scan_equal(const struct token *token, const char *text);

#endif
