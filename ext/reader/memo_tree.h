/*
** Data structures of a memo (memo.h). memo.c reads events with them, lesson.c adds to them.
*/
#ifndef TRACEDIFF_MEMO_TREE_H
#define TRACEDIFF_MEMO_TREE_H

#include <assert.h>

#include "text/bytes16.h"
#include "memo.h"

enum {
    MOST_NODES = 4096,
    MOST_TEXT = 256 * 1024,
    MOST_READINGS = 512,
    LONGEST_SPAN = 255,
    MOST_NAMES = 1024,
    COMPARED = 16,     /* bytes per comparison */
    MOST_CREDIT = 2048 /* initial and maximum credit of a memo (lesson.c) */
};

enum follows {
    NOTHING,
    NUMBER,
    NAME,     /* the contents of the name, up to its quote */
    ARGS_END, /* text after args, if it is more than a brace: the span ends with the args */
    MORE,     /* another span, because this one would be too long */
    END       /* the next event: the span ends with the event's brace */
};

/* A span. Node 0 is the root, without text. */
struct memo_node {
    unsigned char head[COMPARED]; /* its first bytes */
    const unsigned char *text;    /* all its bytes */
    struct memo_node *child;      /* the next spans, most recently used first ... */
    struct memo_node *sibling;    /* ... and so on; or NULL */
    struct memo_node *args;       /* the span with the brace of the enclosing args, or NULL */
    struct memo_node *after_args; /* the node whose children follow the args that begin here */
    const struct reading *says;   /* ARGS_END, END: values from the spans so far */
    uint16_t head_mask;           /* a bit for each byte in use of `head` */
    unsigned char length, follows;
    uint32_t number_end;         /* NUMBER: 1 << number_length; or UNMEASURED */
    unsigned char number_length; /* bytes of the previous number */
    unsigned char children;
    unsigned char depth;   /* number of spans up to this one */
    unsigned char args_at; /* the byte after the brace of args; 0: not in this span */
    uint32_t form;         /* END: as in struct event */
};

static_assert((int)LONGEST_SPAN <= (int)SCAN_PADDING,
              "a span may be compared with what comes after the text");

/* The position of a byte of an event: in a span, or right after it. */
struct spot {
    unsigned char span, offset;
};

/* Values from the spans of args, or of an event. */
struct reading {
    struct {
        struct spot begin, end;
        unsigned char kind; /* enum token_kind */
    } value[EVENT_FIELDS];
    unsigned char args_tail; /* bytes after args; 0: args end at their spot */
    unsigned char phase;     /* like in struct event, also `passed_over` */
    bool passed_over;
    bool has_ids; /* args have a stream or a correlation */
};

struct memo {
    size_t nodes_used, text_used, readings_used;
    bool full;        /* a span found no room */
    bool wanted[256]; /* for a kept memo: the wanted phases */
    int credit;
    uint32_t forms; /* the latest form */
    struct memo_node nodes[MOST_NODES];
    struct reading readings[MOST_READINGS];
    struct known_name names[MOST_NAMES];      /* by name_slot() */
    unsigned char text[MOST_TEXT + COMPARED]; /* the last bytes stay unused, but are read */
};

static inline bytes16 same16(const unsigned char *a, const unsigned char *b)
{
    return (bytes16)(bytes16_at(a) == bytes16_at(b));
}

/* Whether two texts are equal after COMPARED bytes. The last comparison overlaps the one before. */
static inline bool same_tail(const unsigned char *a, const unsigned char *b, size_t length)
{
    bytes16 equal = same16(a + length - COMPARED, b + length - COMPARED);
    if (length > 2 * COMPARED)
        equal &= same16(a + length - 2 * COMPARED, b + length - 2 * COMPARED);
    for (size_t i = COMPARED; i + 2 * COMPARED < length; i += 2 * COMPARED)
        equal &= same16(a + i, b + i) & same16(a + i + COMPARED, b + i + COMPARED);
    return bytes16_mask(equal) == 0xffff;
}

/* A bit for each of COMPARED bytes that is not part of a number. */
static inline uint32_t not_of_number(const unsigned char *p)
{
    /* shifted so that characters of numbers become the lowest signed bytes */
    signed16 moved = (signed16)(bytes16_at(p) + (unsigned char)(INT8_MIN - '.'));
    return bytes16_mask((bytes16)(moved <= INT8_MIN + ('9' - '.'))) ^ 0xffff;
}

static inline const unsigned char *after_number(const unsigned char *p)
{
    for (;; p += COMPARED) {
        uint32_t other = not_of_number(p);
        if (other)
            return p + (unsigned)__builtin_ctz(other);
    }
}

enum { MEASURED = 31, UNMEASURED = 3 /* no end: see cross_number() */ };

/* Advances `*end` from the end of a span to the end of the number after it; false without a number.
** Most numbers are as long as the previous one. Trying that length first lets the processor
** continue before it knows the true end. */
static inline __attribute__((always_inline)) bool cross_number(struct memo_node *node,
                                                               const unsigned char **end)
{
    const unsigned char *begin = *end;
    uint32_t other = not_of_number(begin);
    if (other == 0)
        other = not_of_number(begin + COMPARED) << COMPARED;
    if ((other & (2 * node->number_end - 1)) == node->number_end) {
        *end = begin + node->number_length;
        return true;
    }
    *end = after_number(begin);
    size_t length = (size_t)(*end - begin);
    if (length > 0 && length <= MEASURED) {
        node->number_length = (unsigned char)length;
        node->number_end = UINT32_C(1) << length;
    }
    return length > 0;
}

/* Whether a span is at `p`, with a number after it if required. Spans contain no zero bytes and the
** text is followed by zeros, so a match never exceeds the text. `*end` is the byte after both. */
static inline __attribute__((always_inline)) bool
matches(struct memo_node *node, const unsigned char *p, const unsigned char **end)
{
    size_t length = node->length;
    if (!bytes16_same(bytes16_at(node->head), p, node->head_mask) ||
        (length > COMPARED && !same_tail(p, node->text, length)))
        return false;
    *end = p + length;
    return node->follows != NUMBER || cross_number(node, end);
}

/* Finds the span after `node` at `p`, up to `*end`, and moves it to the front; NULL if unknown. */
static inline struct memo_node *memo_find(struct memo_node *node, const unsigned char *p,
                                          const unsigned char **end)
{
    struct memo_node *before = node->child, *child;
    if (!before)
        return NULL;
    if (matches(before, p, end))
        return before;
    for (; (child = before->sibling); before = child)
        if (matches(child, p, end)) {
            before->sibling = child->sibling;
            child->sibling = node->child;
            node->child = child;
            return child;
        }
    return NULL;
}

#endif
