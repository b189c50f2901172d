#include "memo_tree.h"

#include "memory.h"

void memo_begin_anew(struct memo *memo)
{
    memo->nodes[0] = (struct memo_node){.follows = NOTHING};
    memo->nodes_used = 1;
    memo->text_used = memo->readings_used = 0;
    memo->forms += MOST_NODES;
    memo->full = false;
}

struct memo *memo_new(void)
{
    struct memo *memo = memory_allocate(sizeof *memo);
    if (!memo)
        return NULL;
    memo->forms = 0;
    memo->credit = MOST_CREDIT;
    memo_begin_anew(memo);
    return memo;
}

void memo_free(struct memo *memo)
{
    memory_free(memo);
}

struct memo_node *memo_find_among_others(struct memo_node *node, const unsigned char *p,
                                         const unsigned char **end)
{
    for (struct memo_node **link = &node->child, *child; (child = *link); link = &child->sibling)
        if (matches(child, p, end)) {
            *link = child->sibling;
            child->sibling = node->child;
            node->child = child;
            return child;
        }
    return NULL;
}

/* Fills in the fields from `first` up to `last`. */
static inline void take_values(const struct reading *reading, const unsigned char *const *spans,
                               int first, int last, struct event *event)
{
    for (int i = first; i <= last; i++) {
        struct spot begin = reading->value[i].begin, end = reading->value[i].end;
        const unsigned char *at = spans[begin.span] + begin.offset;
        event->field[i].at = at;
        event->field[i].length = (size_t)(spans[end.span] + end.offset - at);
        event->field[i].kind = (enum token_kind)reading->value[i].kind;
    }
}

/* Fills in an event that ends before `end`. */
static inline void take_event(const struct reading *reading, const unsigned char *const *spans,
                              const unsigned char *end, struct event *event)
{
    struct token *args = &event->field[EVENT_ARGS];
    event->phase = reading->phase;
    event->passed_over = reading->passed_over;
    event->flawed = false;
    if (reading->passed_over)
        return;
    take_values(reading, spans, EVENT_NAME, EVENT_ARGS, event);
    if (reading->args_tail > 0) {
        args->length = (size_t)(end - reading->args_tail - args->at);
        take_values(reading, spans, EVENT_STREAM, EVENT_CORRELATION, event);
    }
}

const unsigned char *memo_read(struct memo *memo, const struct scan *scan, const unsigned char *p,
                               struct event *event)
{
    const unsigned char *spans[MOST_SPANS], *begin = p;
    size_t count = 0;
    struct memo_node *node = memo->nodes;
    enum token_kind name = TOKEN_TEXT;
    struct scan inner = {scan->end, NULL};
    bool unknown = false;
    event->field[EVENT_STREAM].kind = event->field[EVENT_CORRELATION].kind = TOKEN_NONE;
    for (;;) {
        const unsigned char *end;
        struct memo_node *next = memo_find(node, p, &end);
        if (!next) {
            const struct memo_node *args = node->args;
            unknown = true;
            p = args ? event_cross_args(&inner, spans[args->depth - 1] + args->args_at, event)
                     : NULL;
            if (!p)
                return NULL;
            node = args->after_args;
            count = args->depth;
            continue;
        }
        node = next;
        spans[count++] = p;
        p = end;
        if (node->follows == NUMBER)
            continue;
        if (node->follows == NAME) {
            p = scan_string(&inner, p, &name);
            if (!p)
                return NULL;
        } else if (node->follows == ARGS_END) {
            take_values(node->says, spans, EVENT_STREAM, EVENT_CORRELATION, event);
            count = node->args->depth;
            node = node->args->after_args;
        } else if (node->follows == END) {
            take_event(node->says, spans, p, event);
            event->form = node->has_form ? memo->forms + (uint64_t)(node - memo->nodes) : 0;
            if (name == TOKEN_ODD_TEXT)
                event->field[EVENT_NAME].kind = name;
            if (!unknown)
                memo->credit += memo->credit < MOST_CREDIT;
            else if (!event->passed_over) /* else its fields are undefined */
                memo_learn(memo, begin, p, event);
            return p;
        }
    }
}
