#include "scan.h"

#include <string.h>

#include "bytes16.h"
#include "text.h"

/* Inlined even where gcc would not, so that `keys` is a constant in each copy. */
#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* Masks of 64 bytes of text; bit i is for byte i. */
struct block {
    uint64_t quote, backslash;
    uint64_t bracket; /* one of { } [ ] */
    uint64_t high;    /* bit 6 of the byte is set: in ASCII, letters, brackets, @ \ ^ _ ` | ~ */
    uint64_t first;   /* s or c, with which wanted keys begin; 0 unless asked for */
};

/* Declares an array of four vectors; `expression` may use `i`, the index of the vector. */
#define EACH4(name, expression) \
    bytes16 name[4];            \
    for (int i = 0; i < 4; i++) \
        name[i] = (bytes16)(expression);

ALWAYS_INLINE struct block block_read(const unsigned char *p, bool keys)
{
    struct block block;
    EACH4(v, bytes16_at(p + 16 * i))
    EACH4(quote, v[i] == '"')
    EACH4(backslash, v[i] == '\\')
    /* setting bit 0x20 makes { of [, and } of ] */
    EACH4(low, v[i] | 0x20)
    EACH4(bracket, (low[i] == '{') | (low[i] == '}'))
    /* doubling makes bit 7, the sign, of bit 6 */
    EACH4(high, (signed16)(v[i] + v[i]) < 0)
    block.quote = bytes64_mask(quote);
    block.bracket = bytes64_mask(bracket);
    block.high = bytes64_mask(high);
    block.backslash = 0;
    if (bytes16_mask(backslash[0] | backslash[1] | backslash[2] | backslash[3]))
        block.backslash = bytes64_mask(backslash);
    block.first = 0;
    if (keys) { /* setting bit 0x10 makes s of c */
        EACH4(first, (v[i] | 0x10) == 's')
        block.first = bytes64_mask(first);
    }
    return block;
}

/* Finds the first byte that is a quote, a backslash, a control character or not ASCII. The
** comparison is signed, so bytes from 0x80 count as less than 0x20. */
static inline const unsigned char *find_special(const unsigned char *p)
{
    for (;; p += 16) {
        bytes16 v = bytes16_at(p);
        bytes16 usual = (bytes16)((signed16)v >= 0x20) & ~(bytes16)((v == '"') | (v == '\\'));
        uint32_t special = ~bytes16_mask(usual) & 0xffff;
        if (special)
            return p + __builtin_ctz(special);
    }
}

/* Bit i of the result is the parity of bits 0 to i: of a mask of quotes, it is 1 from each
** opening quote up to, but not including, its closing quote. */
static inline uint64_t prefix_xor(uint64_t bits)
{
    bits ^= bits << 1;
    bits ^= bits << 2;
    bits ^= bits << 4;
    bits ^= bits << 8;
    bits ^= bits << 16;
    bits ^= bits << 32;
    return bits;
}

/* Returns the mask of escaped bytes: those after a backslash that is not itself escaped. `*carry`
** is 1 if the first byte of the next block is escaped. */
static inline uint64_t escaped_bytes(uint64_t backslash, uint64_t *carry)
{
    uint64_t escaped = *carry;
    *carry = 0;
    backslash &= ~escaped;
    while (backslash) {
        int i = __builtin_ctzll(backslash);
        if (i == 63) {
            *carry = 1;
            break;
        }
        escaped |= (uint64_t)2 << i;
        backslash &= ~((uint64_t)3 << i);
    }
    return escaped;
}

const unsigned char *scan_string(struct scan *scan, const unsigned char *p, enum token_kind *kind)
{
    for (;;) {
        p = find_special(p);
        if (p >= scan->end)
            return NULL;
        if (*p == '"')
            return p;
        *kind = TOKEN_ODD_TEXT;
        if (*p == '\\') {
            p += 2;
            if (p > scan->end)
                return NULL;
        } else {
            p++;
        }
    }
}

/* The characters of numbers and bare words: letters, digits, + - . / _ */
static inline bool is_bare(unsigned char c)
{
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '.' ||
           c == '-' || c == '+' || c == '_' || c == '/';
}

const unsigned char *scan_value(struct scan *scan, const unsigned char *p, struct token *token)
{
    const unsigned char *stop;
    if (*p == '"') {
        token->at = p + 1;
        token->kind = TOKEN_TEXT;
        stop = scan_string(scan, p + 1, &token->kind);
        if (!stop)
            return NULL;
        token->length = (size_t)(stop - token->at);
        return stop + 1;
    }
    token->at = p;
    if (*p == '{' || *p == '[') {
        token->kind = TOKEN_NESTED;
        stop = scan_nested(scan, p + 1, *p == '{' ? '}' : ']', NULL, 0);
        if (!stop)
            return NULL;
    } else {
        token->kind = TOKEN_BARE;
        for (stop = p; (*stop >= '0' && *stop <= '9') || *stop == '.'; stop++)
            ;
        while (is_bare(*stop))
            stop++;
        if (stop == p || stop >= scan->end)
            return scan_stop(scan, stop);
    }
    token->length = (size_t)(stop - p);
    return stop;
}

/* Takes the value of a wanted key, which ends before `p`. A value that the end of the text cuts off
** is not taken: the caller reads the object again with more text. */
static void take_value(struct scan *scan, const unsigned char *p, struct wanted *one)
{
    struct scan inner = {scan->end, NULL};
    p = scan_space(p);
    if (one->value.kind == TOKEN_NONE && *p == ':' &&
        !scan_value(&inner, scan_space(p + 1), &one->value))
        one->value.kind = TOKEN_NONE;
}

/* As take_wanted(), for a key that may be written with escapes. */
static __attribute__((cold)) void take_escaped(struct scan *scan, const unsigned char *p,
                                               struct wanted *wanted, size_t count)
{
    struct scan inner = {scan->end, NULL};
    enum token_kind kind;
    const unsigned char *stop = scan_string(&inner, p + 1, &kind);
    for (size_t i = 0; stop && i < count; i++)
        if (text_says(p + 1, (size_t)(stop - p - 1), wanted[i].key))
            take_value(scan, stop + 1, &wanted[i]);
}

/* Takes the value if a wanted key begins at the quote `p`. Keys may be compared with the padding,
** which equals none. Of a key with escapes, the first one is among its first WANTED_LENGTH
** bytes. */
static void take_wanted(struct scan *scan, const unsigned char *p, struct wanted *wanted,
                        size_t count)
{
    if (bytes16_mask((bytes16)(bytes16_at(p + 1) == '\\'))) {
        take_escaped(scan, p, wanted, count);
        return;
    }
    for (size_t i = 0; i < count; i++)
        if (p[wanted[i].length + 1] == '"' && memcmp(p + 1, wanted[i].key, wanted[i].length) == 0)
            take_value(scan, p + wanted[i].length + 2, &wanted[i]);
}

ALWAYS_INLINE const unsigned char *nested(struct scan *scan, const unsigned char *p,
                                          unsigned char close, struct wanted *wanted,
                                          size_t wanted_count, bool keys)
{
    int64_t depth = 1;
    uint64_t in_string = 0, escape = 0, ended = 0;
    for (; p < scan->end; p += 64) {
        struct block block = block_read(p, keys);
        if (block.backslash | escape)
            block.quote &= ~escaped_bytes(block.backslash, &escape);
        uint64_t inside = prefix_xor(block.quote) ^ in_string;
        uint64_t ends = block.quote & ~inside;
        /* high bytes directly after a closing quote, which show that quotes are swapped (scan.h) */
        uint64_t suspect = (ends << 1 | ended) & block.high & ~block.bracket;
        uint64_t bracket = block.bracket & ~inside;
        uint64_t stops = bracket | suspect;
        if (keys) /* opening quotes before s, c or an escape, or before the next block */
            stops |= block.quote & inside &
                     ((block.first | block.backslash) >> 1 | (uint64_t)1 << 63);
        for (; stops; stops &= stops - 1) {
            int i = __builtin_ctzll(stops);
            uint64_t bit = stops & (0 - stops);
            if (bit & bracket) {
                if ((p[i] | 0x20) == '{')
                    depth++;
                else if (--depth == 0)
                    return p[i] == close ? p + i + 1 : scan_stop(scan, p + i);
            } else if (bit & suspect) {
                return scan_stop(scan, p + i);
            } else if (depth == 1) {
                take_wanted(scan, p + i, wanted, wanted_count);
            }
        }
        in_string = 0 - (inside >> 63);
        ended = ends >> 63;
    }
    return NULL;
}

const unsigned char *scan_nested(struct scan *scan, const unsigned char *p, unsigned char close,
                                 struct wanted *wanted, size_t wanted_count)
{
    return wanted_count > 0 ? nested(scan, p, close, wanted, wanted_count, true)
                            : nested(scan, p, close, NULL, 0, false);
}

void scan_members(const struct token *object, const char *const *keys, size_t count,
                  struct token *values)
{
    struct scan scan = {object->at + object->length, NULL};
    const unsigned char *p = scan_space(object->at + 1);
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        values[i].kind = TOKEN_NONE;
    while (p && *p == '"' && found < count) {
        struct token name, value;
        p = scan_value(&scan, p, &name);
        if (!p || *(p = scan_space(p)) != ':')
            return;
        p = scan_value(&scan, scan_space(p + 1), &value);
        for (size_t i = 0; p && i < count; i++)
            if (values[i].kind == TOKEN_NONE && scan_equal(&name, keys[i])) {
                values[i] = value;
                found++;
                break;
            }
        if (!p || *(p = scan_space(p)) != ',')
            return;
        p = scan_space(p + 1);
    }
}

bool scan_member(const struct token *object, const char *key, struct token *value)
{
    scan_members(object, &key, 1, value);
    return value->kind != TOKEN_NONE;
}

bool scan_equal(const struct token *token, const char *text)
{
    size_t length = strlen(text);
    if (token->kind == TOKEN_ODD_TEXT)
        return text_says(token->at, token->length, text);
    return token->kind == TOKEN_TEXT && token->length == length &&
           memcmp(token->at, text, length) == 0;
}

const char *scan_strict_end(const char *p, const char *end)
{
    for (int64_t depth = 0; p < end; p++) {
        if (*p == '"')
            for (p++; p < end && *p != '"'; p++)
                p += *p == '\\' && p + 1 < end;
        else if (depth == 0 && (*p == ',' || *p == ':' || *p == '}' || *p == ']'))
            return p;
        else
            depth += (*p == '{' || *p == '[') - (*p == '}' || *p == ']');
    }
    return end;
}
