#include "memo.h"

#include <string.h>

#include "base/memory.h"
#include "lesson.h"
#include "memo_tree.h"

struct memo *memo_new(void)
{
    struct memo *memo = memory_allocate(sizeof *memo);
    if (!memo)
        return NULL;
    memo->forms = 0;
    memo->credit = MOST_CREDIT;
    memset(memo->names, 0, sizeof memo->names);
    memo_begin_anew(memo);
    return memo;
}

void memo_free(struct memo *memo)
{
    memory_free(memo);
}

void memo_keep(struct memo **kept, struct memo *memo, const bool *wanted)
{
    if (memo && kept && !*kept) {
        memcpy(memo->wanted, wanted, sizeof memo->wanted);
        *kept = memo;
    } else {
        memo_free(memo);
    }
}

struct memo *memo_take(struct memo **kept, const bool *wanted)
{
    struct memo *memo = kept ? *kept : NULL;
    if (!memo)
        return NULL;
    *kept = NULL;
    memo->credit = MOST_CREDIT;
    memset(memo->names, 0, sizeof memo->names);
    if (memcmp(memo->wanted, wanted, sizeof memo->wanted) != 0)
        memo_begin_anew(memo);
    return memo;
}

/* Fills in the fields from `first` up to `last`. */
static inline void take_values(const struct reading *reading, int first, int last,
                               struct event *event)
{
    for (int i = first; i <= last; i++) {
        struct spot begin = reading->value[i].begin, end = reading->value[i].end;
        const unsigned char *at = event->spans[begin.span] + begin.offset;
        event->field[i].at = at;
        event->field[i].length = (size_t)(event->spans[end.span] + end.offset - at);
        event->field[i].kind = (enum token_kind)reading->value[i].kind;
    }
}

/* Fills in the fields that are valid before event_complete(). The event ends before `end`. */
static inline void take_event(const struct reading *reading, const unsigned char *end,
                              struct event *event)
{
    event->phase = reading->phase;
    event->passed_over = reading->passed_over;
    event->flawed = false;
    event->reading = NULL;
    if (reading->passed_over)
        return;
    take_values(reading, EVENT_TS, EVENT_DUR, event);
    if (reading->has_ids)
        take_values(reading, EVENT_STREAM, EVENT_CORRELATION, event);
    event->reading = reading;
    event->end = end;
}

void event_complete(struct event *event)
{
    const struct reading *reading = event->reading;
    struct token *args = &event->field[EVENT_ARGS];
    if (!reading)
        return;
    take_values(reading, EVENT_NAME, EVENT_TID, event);
    take_values(reading, EVENT_ARGS, EVENT_ARGS, event);
    if (reading->args_tail > 0)
        args->length = (size_t)(event->end - reading->args_tail - args->at);
    if (event->name_kind == TOKEN_ODD_TEXT)
        event->field[EVENT_NAME].kind = TOKEN_ODD_TEXT;
    event->reading = NULL;
}

/* Mixes some bytes of a name that begins at `p`. Many names share their first bytes; others have
** nearly the same length and the same text after them. */
static inline uint64_t some_bytes(const unsigned char *p)
{
    enum { NEAR = 4, FAR = 36 };
    uint64_t a, b;
    memcpy(&a, p + NEAR, sizeof a);
    memcpy(&b, p + FAR, sizeof b);
    return a * UINT64_C(0x9e3779b97f4a7c15) + b * UINT64_C(0xc2b2ae3d27d4eb4f);
}

static inline struct known_name *name_slot(struct memo *memo, uint64_t bytes)
{
    enum { SHIFT = 64 - 10 };
    static_assert(MOST_NAMES == 1 << (64 - SHIFT), "a slot for each result");
    return &memo->names[bytes >> SHIFT];
}

/* Whether a name is at `p`, including its closing quote, before `end`. */
static inline bool same_name(const struct known_name *name, const unsigned char *p,
                             const unsigned char *end)
{
    size_t length = name->length;
    return name->text && bytes16_same(bytes16_at(name->head), p, name->head_mask) &&
           (ptrdiff_t)length < end - p && p[length] == '"' &&
           (length <= COMPARED || same_tail(p, name->text, length));
}

/* Moves from a name's first byte to its closing quote. Many long names, from templates, share their
** first bytes, so these are looked up by later bytes, too. */
static inline const unsigned char *take_name(struct memo *memo, const unsigned char *text_end,
                                             const unsigned char *p, struct event *event)
{
    enum { LATER = 56, LONG_NAME = 100 };
    uint64_t bytes = some_bytes(p);
    struct known_name *name = name_slot(memo, bytes);
    if (!same_name(name, p, text_end)) {
        struct known_name *other = name_slot(memo, 3 * bytes + some_bytes(p + LATER));
        if (!same_name(other, p, text_end)) {
            struct scan scan = {text_end, NULL};
            const unsigned char *end = scan_string(&scan, p, &event->name_kind);
            if (event->name_kind == TOKEN_TEXT)
                event->new_name = end && end - p >= LONG_NAME ? other : name;
            return end;
        }
        name = other;
    }
    event->known_name = name;
    return p + name->length;
}

/* An event being read. */
struct cursor {
    const unsigned char *begin, *next; /* its start; the start of the next span */
    struct memo_node *node;            /* the span before that */
    size_t count;                      /* spans so far */
};

static const unsigned char *read_after_args(struct memo *memo, const unsigned char *text_end,
                                            struct cursor cursor, struct event *event);

/* Reads the rest of an event. `learn`: unknown args were skipped. */
static inline __attribute__((always_inline)) const unsigned char *
read_rest(struct memo *memo, const unsigned char *text_end, struct cursor cursor,
          struct event *event, bool learn)
{
    const unsigned char **spans = event->spans, *p = cursor.next, *end;
    struct memo_node *node = cursor.node;
    size_t count = cursor.count;
    for (;;) {
        struct memo_node *next = memo_find(node, p, &end);
        if (!next)
            return read_after_args(memo, text_end, (struct cursor){cursor.begin, p, node, count},
                                   event);
        node = next;
        spans[count++] = p;
        p = end;
        if (node->follows == NUMBER)
            continue;
        if (node->follows == NAME) {
            p = take_name(memo, text_end, p, event);
            if (!p)
                return NULL;
        } else if (node->follows == ARGS_END) {
            take_values(node->says, EVENT_STREAM, EVENT_CORRELATION, event);
            count = node->args->depth;
            node = node->args->after_args;
        } else if (node->follows == END) {
            take_event(node->says, p, event);
            event->form = node->form;
            if (!learn)
                memo->credit += memo->credit < MOST_CREDIT;
            else if (!event->passed_over) { /* otherwise its fields are undefined */
                event_complete(event);
                memo_learn(memo, cursor.begin, p, event);
            }
            return p;
        }
    }
}

/* Skips unknown args, and reads the rest of their event. NULL unless the cursor is in args. */
static __attribute__((noinline)) const unsigned char *read_after_args(struct memo *memo,
                                                                      const unsigned char *text_end,
                                                                      struct cursor cursor,
                                                                      struct event *event)
{
    const struct memo_node *args = cursor.node->args;
    struct scan scan = {text_end, NULL};
    if (!args)
        return NULL;
    cursor.next = event_cross_args(&scan, event->spans[args->depth - 1] + args->args_at, event);
    if (!cursor.next)
        return NULL;
    cursor.node = args->after_args;
    cursor.count = args->depth;
    return read_rest(memo, text_end, cursor, event, true);
}

const unsigned char *memo_read(struct memo *memo, const unsigned char *text_end,
                               const unsigned char *p, struct event *event)
{
    event->known_name = event->new_name = NULL;
    event->name_kind = TOKEN_TEXT;
    event->field[EVENT_STREAM].kind = event->field[EVENT_CORRELATION].kind = TOKEN_NONE;
    return read_rest(memo, text_end, (struct cursor){p, p, memo->nodes, 0}, event, false);
}
