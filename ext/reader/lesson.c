#include "lesson.h"

#include <string.h>

#include "text/ascii.h"
#include "memo_tree.h"

enum {
    MOST_CHILDREN = 128,
    LONG_NUMBER = 4,  /* digits and dots; a member of args this long always varies */
    VARYING = 3,      /* number of spans with different numbers until the number varies */
    VARYING_ARGS = 8, /* number of spans that differ after the brace of args until args vary */
    LEARNING = 4      /* credit per learnt event; each known event earns 1 */
};

/* An event being learnt, cut into spans up to `at`. */
struct lesson {
    const struct event *event;
    const unsigned char *at, *stop; /* the next span begins at `at` */
    const unsigned char *next;      /* after the span and the number that follows it */
    const unsigned char *spans[EVENT_SPANS];
    size_t lengths[EVENT_SPANS];
    size_t count;
    bool in_args;
    bool args_last;         /* only the event's closing brace follows args */
    size_t name;            /* number of spans up to the name; 0: no name yet */
    struct memo_node *args; /* node with the brace of args; NULL: not reached yet */
};

/* The span to be stored. */
struct cut {
    size_t length;
    enum follows follows;
    size_t args_at; /* as in struct memo_node */
};

static bool is_varied_name(const struct token *name)
{
    return name->kind == TOKEN_TEXT || name->kind == TOKEN_ODD_TEXT;
}

static bool has_spans(const struct token *args)
{
    return args->kind == TOKEN_NESTED && *args->at == '{';
}

/* Moves the cut to `at`, if that is nearer. */
static void cut_before(const struct lesson *lesson, const unsigned char *at, enum follows follows,
                       struct cut *cut)
{
    if (at && at >= lesson->at && (size_t)(at - lesson->at) < cut->length)
        *cut = (struct cut){.length = (size_t)(at - lesson->at), .follows = follows};
}

/* The byte after the brace of args that come later, or NULL. */
static const unsigned char *args_to_come(const struct lesson *lesson)
{
    const struct token *args = &lesson->event->field[EVENT_ARGS];
    return has_spans(args) && !lesson->args ? args->at + 1 : NULL;
}

static bool is_odd(const unsigned char *text, size_t length)
{
    return memchr(text, '\\', length) || memchr(text, 0, length);
}

/* Cuts before the first long number among args (memo.h, rule 3). */
static void cut_before_long_number(const struct lesson *lesson, const unsigned char *brace_end,
                                   struct cut *cut)
{
    const unsigned char *end = lesson->at + cut->length;
    const unsigned char *p = brace_end && brace_end > lesson->at ? brace_end : lesson->at;
    while (p < end && (p = memchr(p, ':', (size_t)(end - p)))) {
        p = scan_space(p + 1);
        if (is_digit(*p) && after_number(p) - p >= LONG_NUMBER) {
            cut_before(lesson, p, NUMBER, cut);
            return;
        }
    }
}

/* Cuts before the text that always varies. NOTHING follows: memo.h, rule 5. */
static struct cut widest_cut(const struct lesson *lesson)
{
    static const enum event_field times[] = {EVENT_TS, EVENT_DUR};
    const struct token *field = lesson->event->field, *args = &field[EVENT_ARGS];
    const unsigned char *brace_end = args_to_come(lesson);
    struct cut cut = {.length = (size_t)(lesson->stop - lesson->at), .follows = END};
    cut_before(lesson, lesson->at + LONGEST_SPAN, MORE, &cut);
    if (is_varied_name(&field[EVENT_NAME]) && !lesson->name)
        cut_before(lesson, field[EVENT_NAME].at, NAME, &cut);
    if ((brace_end || lesson->in_args) && !lesson->args_last)
        cut_before(lesson, args->at + args->length, ARGS_END, &cut);
    for (int i = 0; i < 2; i++) {
        const struct token *time = &field[times[i]];
        if (time->kind != TOKEN_NONE && is_digit(*time->at))
            cut_before(lesson, time->at, NUMBER, &cut);
    }
    if (brace_end || lesson->in_args)
        cut_before_long_number(lesson, brace_end, &cut);
    if (is_odd(lesson->at, cut.length))
        cut_before(lesson, brace_end, MORE, &cut);
    if (is_odd(lesson->at, cut.length))
        cut.follows = NOTHING;
    return cut;
}

static bool is_part_of_number(unsigned char c)
{
    return c >= '.' && c <= '9';
}

/* The index of the first different byte of two texts, at most `length`. */
static size_t first_difference(const unsigned char *a, const unsigned char *b, size_t length)
{
    for (size_t i = 0; i < length; i += COMPARED) {
        uint32_t other = bytes16_mask(same16(a + i, b + i)) ^ 0xffff;
        if (length - i < COMPARED)
            other &= (1U << (length - i)) - 1;
        if (other)
            return i + (unsigned)__builtin_ctz(other);
    }
    return length;
}

/* The index of a number, if `p` differs from a span first in that number; else 0. */
static size_t number_that_differs(const struct memo_node *node, const unsigned char *p,
                                  size_t length)
{
    size_t shorter = node->length < length ? node->length : length;
    size_t i = first_difference(p, node->text, shorter);
    if (i == shorter || (!is_part_of_number(p[i]) && !is_part_of_number(node->text[i])))
        return 0;
    while (i > 0 && is_part_of_number(p[i - 1]))
        i--;
    while (p[i] == node->text[i] && !is_digit(p[i]))
        i++;
    return is_digit(p[i]) && is_digit(node->text[i]) ? i : 0;
}

static void forget(struct memo_node *node, struct memo_node **link)
{
    *link = (*link)->sibling;
    node->children--;
}

/* Cuts at a number if enough children of a node differ from `p` in it, and removes these children
** (memo.h, rule 3). */
static void cut_at_number(struct memo_node *node, const unsigned char *p, struct cut *cut)
{
    unsigned char found[LONGEST_SPAN + 1] = {0};
    size_t at = 0;
    for (const struct memo_node *child = node->child; child; child = child->sibling) {
        size_t number = number_that_differs(child, p, cut->length);
        if (number > 0 && ++found[number] == VARYING && (at == 0 || number < at))
            at = number;
    }
    if (at == 0)
        return;
    for (struct memo_node **link = &node->child; *link;) {
        if (number_that_differs(*link, p, cut->length) == at)
            forget(node, link);
        else
            link = &(*link)->sibling;
    }
    *cut = (struct cut){.length = at, .follows = NUMBER};
}

static bool same_up_to_args(const struct memo_node *node, const unsigned char *p, size_t args_at)
{
    return node->args_at == args_at && memcmp(node->text, p, args_at) == 0;
}

/* Cuts after the brace of args if enough children of a node match `p` so far; removes these. */
static void cut_at_args(struct memo_node *node, const unsigned char *p, size_t args_at,
                        struct cut *cut)
{
    int found = 0;
    for (const struct memo_node *child = node->child; child; child = child->sibling)
        found += same_up_to_args(child, p, args_at);
    if (found < VARYING_ARGS)
        return;
    for (struct memo_node **link = &node->child; *link;) {
        if (same_up_to_args(*link, p, args_at))
            forget(node, link);
        else
            link = &(*link)->sibling;
    }
    *cut = (struct cut){.length = args_at, .follows = MORE};
}

/* Finds the end of the span after a node. NOTHING follows: do not learn the event. */
static struct cut find_cut(struct memo_node *node, const struct lesson *lesson)
{
    const unsigned char *brace_end = args_to_come(lesson);
    struct cut cut = widest_cut(lesson);
    if (cut.follows == NOTHING)
        return cut;
    cut_at_number(node, lesson->at, &cut);
    size_t args_at = brace_end > lesson->at ? (size_t)(brace_end - lesson->at) : 0;
    if (args_at > 0 && cut.length > args_at)
        cut_at_args(node, lesson->at, args_at, &cut);
    cut.args_at = cut.length >= args_at ? args_at : 0;
    return cut;
}

/* Finds the spot of a byte of the event; false if it is within varying text. */
static bool find_spot(const struct lesson *lesson, const unsigned char *at, struct spot *spot)
{
    size_t i = lesson->count - 1;
    while (i > 0 && lesson->spans[i] > at)
        i--;
    size_t offset = (size_t)(at - lesson->spans[i]);
    *spot = (struct spot){(unsigned char)i, (unsigned char)offset};
    return lesson->spans[i] <= at && offset <= lesson->lengths[i];
}

/* Records the positions of the fields from `first` to `last` in the spans. False if a field begins
** or ends within varying text. */
static bool note_values(const struct lesson *lesson, int first, int last, struct reading *reading)
{
    const struct token *args = &lesson->event->field[EVENT_ARGS];
    memset(reading, 0, sizeof *reading); /* padding, too, for memcmp() */
    reading->phase = lesson->event->phase;
    reading->passed_over = lesson->event->passed_over;
    if (last == EVENT_CORRELATION && first == EVENT_NAME)
        reading->args_tail = (unsigned char)(lesson->stop - (args->at + args->length));
    if (reading->passed_over && first == EVENT_NAME)
        return true; /* args before the phase have the same values in any event */
    for (int i = first; i <= last; i++) {
        const struct token *token = &lesson->event->field[i];
        struct spot *begin = &reading->value[i].begin, *end = &reading->value[i].end;
        reading->value[i].kind = (unsigned char)token->kind;
        if (token->kind == TOKEN_NONE)
            continue;
        reading->has_ids = reading->has_ids || i >= EVENT_STREAM;
        if (i == EVENT_NAME && is_varied_name(token)) { /* the name may be empty */
            *begin = (struct spot){(unsigned char)(lesson->name - 1),
                                   (unsigned char)lesson->lengths[lesson->name - 1]};
            *end = (struct spot){(unsigned char)lesson->name, 0};
            reading->value[i].kind = TOKEN_TEXT;
        } else if (!find_spot(lesson, token->at, begin) ||
                   (!(i == EVENT_ARGS && reading->args_tail > 0) &&
                    !find_spot(lesson, token->at + token->length, end))) {
            return false;
        }
    }
    return true;
}

/* Removes the last child of a node, the least recently used. */
static void forget_last(struct memo_node *node)
{
    struct memo_node **link = &node->child;
    while ((*link)->sibling)
        link = &(*link)->sibling;
    *link = NULL;
    node->children--;
}

/* Adds a child to a node. If the memo is full, returns NULL and sets memo->full. */
static struct memo_node *append(struct memo *memo, struct memo_node *parent,
                                const unsigned char *at, struct cut cut)
{
    if (memo->nodes_used + 2 > MOST_NODES || memo->text_used + cut.length > MOST_TEXT) {
        memo->full = true;
        return NULL;
    }
    if (parent->children == MOST_CHILDREN)
        forget_last(parent);
    struct memo_node *node = &memo->nodes[memo->nodes_used++];
    unsigned char *text = memo->text + memo->text_used;
    size_t head = cut.length < COMPARED ? cut.length : COMPARED;
    memo->text_used += cut.length;
    memcpy(text, at, cut.length);
    *node = (struct memo_node){.text = text,
                               .sibling = parent->child,
                               .head_mask = (uint16_t)((1U << head) - 1),
                               .length = (unsigned char)cut.length,
                               .follows = (unsigned char)cut.follows,
                               .args_at = (unsigned char)cut.args_at,
                               .number_end = UNMEASURED};
    memcpy(node->head, at, head);
    parent->child = node;
    parent->children++;
    return node;
}

/* Stores a reading, or finds an equal one. Returns NULL and sets memo->full at MOST_READINGS. */
static const struct reading *keep_reading(struct memo *memo, const struct reading *reading)
{
    for (size_t i = 0; i < memo->readings_used; i++)
        if (memcmp(&memo->readings[i], reading, sizeof *reading) == 0)
            return &memo->readings[i];
    memo->full = memo->readings_used == MOST_READINGS;
    if (memo->full)
        return NULL;
    memo->readings[memo->readings_used] = *reading;
    return &memo->readings[memo->readings_used++];
}

/* Whether spans contain the whole text of a field, so that its value never changes. */
static bool is_constant(const struct reading *reading, enum event_field field)
{
    unsigned char kind = reading->value[field].kind;
    return kind == TOKEN_NONE || (kind != TOKEN_ODD_TEXT && reading->value[field].begin.span ==
                                                                reading->value[field].end.span);
}

/* Adds the span at lesson->at, already the last of the lesson. Returns NULL if the memo is full, or
** if the spans do not determine the fields of the event. */
static struct memo_node *add_span(struct memo *memo, struct memo_node *parent,
                                  const struct lesson *lesson, struct cut cut)
{
    struct reading reading;
    const struct reading *says = NULL;
    bool in_args = lesson->in_args || cut.args_at > 0;
    if (cut.follows == ARGS_END || cut.follows == END) {
        int first = cut.follows == END ? EVENT_NAME : EVENT_STREAM;
        int last = cut.follows == END && !in_args ? EVENT_ARGS : EVENT_CORRELATION;
        if (!note_values(lesson, first, last, &reading))
            return NULL;
        says = keep_reading(memo, &reading);
        if (!says)
            return NULL;
    }
    struct memo_node *node = append(memo, parent, lesson->at, cut);
    if (!node)
        return NULL;
    node->says = says;
    node->depth = (unsigned char)lesson->count;
    node->args = cut.args_at > 0 ? node : in_args ? lesson->args : NULL;
    if (cut.follows == END && is_constant(says, EVENT_CAT) && is_constant(says, EVENT_PID) &&
        is_constant(says, EVENT_TID))
        node->form = ++memo->forms;
    if (cut.args_at > 0) {
        node->after_args = &memo->nodes[memo->nodes_used++];
        *node->after_args = (struct memo_node){.follows = NOTHING};
    }
    return node;
}

/* Finds or adds the span at lesson->at. */
static struct memo_node *next_span(struct memo *memo, struct memo_node *node, struct lesson *lesson)
{
    struct memo_node *known = memo_find(node, lesson->at, &lesson->next);
    struct cut cut = {.length = 0};
    if (lesson->count == EVENT_SPANS)
        return NULL;
    if (known) {
        cut.length = known->length;
    } else {
        cut = find_cut(node, lesson);
        if (cut.follows == NOTHING)
            return NULL;
        lesson->next = lesson->at + cut.length;
        if (cut.follows == NUMBER)
            lesson->next = after_number(lesson->next);
    }
    lesson->spans[lesson->count] = lesson->at;
    lesson->lengths[lesson->count] = cut.length;
    lesson->count++;
    return known ? known : add_span(memo, node, lesson, cut);
}

/* Continues after args. */
static struct memo_node *leave_args(struct lesson *lesson)
{
    const struct token *args = &lesson->event->field[EVENT_ARGS];
    lesson->at = args->at + args->length;
    lesson->count = lesson->args->depth;
    lesson->in_args = false;
    return lesson->args->after_args;
}

/* Continues after a span; returns the parent of the next span. */
static struct memo_node *go_on(struct lesson *lesson, struct memo_node *node)
{
    lesson->at = lesson->next;
    if (node->args_at > 0) {
        lesson->in_args = true;
        lesson->args = node;
    }
    if (node->follows == NAME) {
        lesson->at += lesson->event->field[EVENT_NAME].length;
        lesson->name = lesson->count;
    } else if (node->follows == ARGS_END) {
        return leave_args(lesson);
    }
    return node;
}

static __attribute__((noinline)) void learn(struct memo *memo, struct lesson *lesson)
{
    const struct token *args = &lesson->event->field[EVENT_ARGS];
    const unsigned char *end = has_spans(args) ? args->at + args->length : NULL;
    lesson->count = lesson->name = 0;
    lesson->in_args = false;
    lesson->args = NULL;
    lesson->args_last =
        end && lesson->stop - end <= LONGEST_SPAN && scan_space(end) == lesson->stop - 1;
    for (struct memo_node *node = memo->nodes; node->follows != END;) {
        struct memo_node *next = next_span(memo, node, lesson);
        if (!next && !lesson->in_args)
            return;
        node = next ? go_on(lesson, next) : leave_args(lesson);
    }
}

void memo_begin_anew(struct memo *memo)
{
    memo->nodes[0] = (struct memo_node){.follows = NOTHING};
    memo->nodes_used = 1;
    memo->text_used = memo->readings_used = 0;
    memo->full = false;
}

void memo_learn(struct memo *memo, const unsigned char *p, const unsigned char *stop,
                const struct event *event)
{
    if (memo->credit < LEARNING || event->flawed || event->phase == 0 || is_digit(event->phase))
        return;
    memo->credit -= LEARNING;
    if (memo->full) /* makes room for newer events */
        memo_begin_anew(memo);
    struct lesson lesson; /* not cleared, because it is large */
    lesson.event = event;
    lesson.at = p;
    lesson.stop = stop;
    learn(memo, &lesson);
}
