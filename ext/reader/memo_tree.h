/*
** What a memo is made of (memo.h): memo.c reads events with it, lesson.c adds to it.
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
    COMPARED = 16,     /* bytes at a time */
    MOST_CREDIT = 2048 /* what a memo begins with, and the most it saves (lesson.c) */
};

enum follows {
    NOTHING,
    NUMBER,
    NAME,     /* the contents of the name, up to its quote */
    ARGS_END, /* what comes after args, if that is more than a brace: the span ends with theirs */
    MORE,     /* another span: this one would have been too long */
    END       /* the next event: the span ends with the event's brace */
};

/* A span. Node 0 is what comes before all, and has no text. */
struct memo_node {
    unsigned char head[COMPARED]; /* its first bytes */
    const unsigned char *text;    /* all of them */
    struct memo_node *child;      /* the spans that followed it, the last one met first ... */
    struct memo_node *sibling;    /* ... and so on; or NULL */
    struct memo_node *args;       /* the span with the brace of the args it is in, or NULL */
    struct memo_node *after_args; /* the node whose children follow the args that begin here */
    const struct reading *says;   /* ARGS_END, END: what the spans so far say */
    uint16_t head_mask;           /* a bit for each byte of `head` */
    unsigned char length, follows;
    uint32_t number_end;         /* NUMBER: 1 << number_length; or UNMEASURED */
    unsigned char number_length; /* of the number before, in bytes */
    unsigned char children;
    unsigned char depth;   /* the number of spans up to this one */
    unsigned char args_at; /* the byte after the brace of args; 0: it is not in this span */
    uint32_t form;         /* END: as in struct event */
};

static_assert((int)LONGEST_SPAN <= (int)SCAN_PADDING,
              "a span may be compared with what comes after the text");

/* A byte of an event: in a span, or the one after it. */
struct spot {
    unsigned char span, offset;
};

/* What the spans of args, or of an event, say. */
struct reading {
    struct {
        struct spot begin, end;
        unsigned char kind; /* enum token_kind */
    } value[EVENT_FIELDS];
    unsigned char args_tail; /* bytes after args; 0: args end at their spot */
    unsigned char phase;     /* as in struct event, and so is `passed_over` */
    bool passed_over;
    bool has_ids; /* a stream or a correlation is among args */
};

struct memo {
    size_t nodes_used, text_used, readings_used;
    bool full;        /* there was no room for a span */
    bool wanted[256]; /* while it is kept: the phases of events that were not passed over */
    int credit;
    uint32_t forms; /* the last form of an event */
    struct memo_node nodes[MOST_NODES];
    struct reading readings[MOST_READINGS];
    struct known_name names[MOST_NAMES];      /* by name_slot() */
    unsigned char text[MOST_TEXT + COMPARED]; /* the last ones are never used, but read */
};

static inline bytes16 same16(const unsigned char *a, const unsigned char *b)
{
    return (bytes16)(bytes16_at(a) == bytes16_at(b));
}

/* Whether two texts are the same after COMPARED bytes. The last words overlap those before. */
static inline bool same_tail(const unsigned char *a, const unsigned char *b, size_t length)
{
    bytes16 equal = same16(a + length - COMPARED, b + length - COMPARED);
    if (length > 2 * COMPARED)
        equal &= same16(a + length - 2 * COMPARED, b + length - 2 * COMPARED);
    for (size_t i = COMPARED; i + 2 * COMPARED < length; i += 2 * COMPARED)
        equal &= same16(a + i, b + i) & same16(a + i + COMPARED, b + i + COMPARED);
    return bytes16_mask(equal) == 0xffff;
}

/* A bit for each of COMPARED bytes that is no part of a number. */
static inline uint32_t not_of_number(const unsigned char *p)
{
    /* moved so that those of numbers are the least of all signed bytes */
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

/* Goes from the end of a span, `*end`, to the end of the number after it; false if there is none.
** Most numbers are as long as the one before: a processor that expects this goes on with what comes
** next before it knows where this one ends. */
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

/* Whether a span is at `p`, and a number after it if one follows. No span has a byte 0, and zeros
** come after the text: so none reaches beyond it. `*end` is the byte after both. */
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

/* The span after `node` that is at `p`, up to `*end`; NULL: not known. It becomes the first. */
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
