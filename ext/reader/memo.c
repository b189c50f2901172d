#include "memo.h"

#include <string.h>

#include "memory.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum {
    MOST_NODES = 3000,
    MOST_TEXT = 64 * 1024,
    MOST_CHILDREN = 16,
    MOST_WHOLE = 4,
    LONGEST_SPAN = 255,
    COMPARED = 16,      /* bytes at a time */
    LEARNING = 4,       /* events that have to be known for another one to be learnt, ... */
    MOST_CREDIT = 2048, /* ... beside the first ones */
};

enum follows {
    DIGITS,
    NAME,     /* the contents of the name, up to its quote */
    ARGS,     /* those of args: the span ends with their brace */
    ARGS_END, /* what stands behind args: the span ends with their brace */
    MORE,     /* another span: this one would have been too long */
    END,      /* the next event: the span ends with the event's brace */
    NOTHING
};

/* Where the value of a field begins or ends. */
struct mark {
    unsigned char field; /* EVENT_FIELDS: there is none */
    unsigned char kind;  /* enum token_kind */
    unsigned char offset, length;
};

/* A span, in one line of a processor's cache. Number 0 is what comes before all: it has no
** text. */
struct memo_node {
    unsigned char head[COMPARED]; /* its first bytes */
    uint32_t text;                /* index of its first byte */
    uint16_t head_mask;           /* a bit for each byte of `head` */
    uint16_t child, sibling;      /* spans that followed, the last one met first; 0: none */
    uint16_t behind_args;         /* ARGS: the node whose children follow args */
    uint16_t depth;               /* of brackets, within args, where it ends */
    unsigned char length, follows, children, phase;
    bool passed_over; /* END: as in struct event, and so is `phase` */
    bool in_string;   /* where it ends */
    bool resumes;     /* within args, and no value has begun and not ended */
    bool has_values;  /* any of the following */
    unsigned char whole;
    struct mark ends;               /* the value that began before it and ends in it */
    struct mark begins;             /* the value that begins in it and ends after it */
    struct mark wholes[MOST_WHOLE]; /* values that it holds as a whole */
};

struct memo {
    struct memo_node *nodes; /* owned */
    size_t count, capacity;
    unsigned char *text; /* owned; MOST_TEXT bytes */
    size_t used;
    struct memo_node *unknown; /* after which memo_read() met a span it did not know; or NULL */
    bool full;                 /* there was no room for a span */
    int credit;
};

struct memo *memo_new(void)
{
    struct memo *memo = memory_zeroed(1, sizeof *memo);
    if (!memo)
        return NULL;
    memo->text = memory_zeroed(MOST_TEXT, 1);
    if (!memo->text || !MEMORY_GROW(memo->nodes, memo->capacity, 1)) {
        memo_free(memo);
        return NULL;
    }
    memo->nodes[0] = (struct memo_node){0};
    memo->count = 1;
    memo->credit = MOST_CREDIT;
    return memo;
}

void memo_free(struct memo *memo)
{
    if (!memo)
        return;
    memory_free(memo->nodes);
    memory_free(memo->text);
    memory_free(memo);
}

static inline bool is_digit(unsigned char c)
{
    return c >= '0' && c <= '9';
}

#ifdef __SSE2__

/* A bit for each of COMPARED bytes that is the same. */
static inline uint32_t equal_bytes(const unsigned char *a, const unsigned char *b)
{
    __m128i equal = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(const void *)a),
                                   _mm_loadu_si128((const __m128i *)(const void *)b));
    return (uint32_t)_mm_movemask_epi8(equal);
}

static inline bool same_head(const struct memo_node *node, const unsigned char *p)
{
    return (~equal_bytes(p, node->head) & node->head_mask) == 0;
}

/* The rest, whole words of COMPARED bytes, the last of which overlaps the one before it. */
static inline bool same_tail(const unsigned char *a, const unsigned char *b, size_t length)
{
    for (size_t i = COMPARED; i + COMPARED < length; i += COMPARED)
        if (equal_bytes(a + i, b + i) != 0xffff)
            return false;
    return equal_bytes(a + length - COMPARED, b + length - COMPARED) == 0xffff;
}

static inline const unsigned char *after_digits(const unsigned char *p)
{
    for (;; p += COMPARED) { /* '0' to '9' become the smallest of signed bytes */
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
        __m128i moved = _mm_add_epi8(v, _mm_set1_epi8((char)(0x80 - '0')));
        int mask = _mm_movemask_epi8(_mm_cmpgt_epi8(moved, _mm_set1_epi8((char)(0x80 + 9))));
        if (mask)
            return p + __builtin_ctz((unsigned)mask);
    }
}

#else

static inline bool same_head(const struct memo_node *node, const unsigned char *p)
{
    return memcmp(p, node->head, node->length < COMPARED ? node->length : COMPARED) == 0;
}

static inline bool same_tail(const unsigned char *a, const unsigned char *b, size_t length)
{
    return memcmp(a + COMPARED, b + COMPARED, length - COMPARED) == 0;
}

static inline const unsigned char *after_digits(const unsigned char *p)
{
    while (is_digit(*p))
        p++;
    return p;
}

#endif

/* The span after `node` that stands at `p`; NULL if it is not known. No span has a byte 0, and 0
** stands behind the text: so none reaches beyond it. */
static inline struct memo_node *find(struct memo *memo, struct memo_node *node,
                                     const unsigned char *p)
{
    uint16_t *link = &node->child;
    for (uint16_t i = *link; i; i = *link) {
        struct memo_node *child = &memo->nodes[i];
        size_t length = child->length;
        if (same_head(child, p) &&
            (length <= COMPARED || same_tail(p, memo->text + child->text, length)) &&
            (child->follows != DIGITS || is_digit(p[length]))) {
            if (link != &node->child) {
                *link = child->sibling;
                child->sibling = node->child;
                node->child = i;
            }
            return child;
        }
        link = &child->sibling;
    }
    return NULL;
}

/* The values that a span at `p` holds, or a part of. */
static inline void take_values(const struct memo_node *node, const unsigned char *p,
                               struct event *event)
{
    if (node->ends.field != EVENT_FIELDS) {
        struct token *token = &event->field[node->ends.field];
        token->length = (size_t)(p + node->ends.offset - token->at);
    }
    for (int i = 0; i < node->whole; i++) {
        const struct mark *mark = &node->wholes[i];
        event->field[mark->field] =
            (struct token){p + mark->offset, mark->length, (enum token_kind)mark->kind};
    }
    if (node->begins.field != EVENT_FIELDS) {
        struct token *token = &event->field[node->begins.field];
        token->at = p + node->begins.offset;
        token->kind = (enum token_kind)node->begins.kind;
    }
}

static void end_args(struct event *event, const unsigned char *p)
{
    struct token *args = &event->field[EVENT_ARGS];
    args->length = (size_t)(p - args->at);
    args->kind = TOKEN_NESTED;
}

const unsigned char *memo_read(struct memo *memo, const struct scan *scan, const unsigned char *p,
                               struct event *event)
{
    struct memo_node *node = memo->nodes;
    const struct memo_node *args = node;
    struct scan inner = {scan->end, NULL};
    memo->unknown = NULL;
    for (int i = 0; i < EVENT_FIELDS; i++)
        event->field[i].kind = TOKEN_NONE;
    for (;;) {
        struct memo_node *next = find(memo, node, p);
        if (!next) {
            memo->unknown = node;
            if (!node->resumes)
                return NULL;
            struct nesting nesting = {node->depth, node->in_string,
                                      !node->in_string && p[-1] == '"'};
            p = event_cross_args(&inner, p, nesting, event);
            if (!p)
                return NULL;
            end_args(event, p);
            node = &memo->nodes[args->behind_args];
            continue;
        }
        node = next;
        if (node->has_values)
            take_values(node, p, event);
        p += node->length;
        if (node->follows == DIGITS) {
            p = after_digits(p);
        } else if (node->follows == NAME) {
            struct token *name = &event->field[EVENT_NAME];
            name->at = p;
            name->kind = TOKEN_TEXT;
            p = scan_string(&inner, p, &name->kind);
            if (!p)
                return NULL;
            name->length = (size_t)(p - name->at);
        } else if (node->follows == ARGS) {
            args = node;
            event->field[EVENT_ARGS].at = p - 1;
        } else if (node->follows == ARGS_END) {
            end_args(event, p);
            node = &memo->nodes[args->behind_args];
        } else if (node->follows == END) {
            event->phase = node->phase;
            event->passed_over = node->passed_over;
            event->flawed = false;
            memo->credit += !memo->unknown && memo->credit < MOST_CREDIT;
            return p;
        }
    }
}

/* The event that is learnt, and where in it the next span begins. */
struct lesson {
    const unsigned char *at, *stop;
    const struct event *event;
    bool in_string;
    uint32_t depth;
    enum { BEFORE_ARGS, IN_ARGS, BEHIND_ARGS } part;
    uint32_t begun; /* a bit each: the fields whose value has begun ... */
    uint32_t ended; /* ... and ended */
};

static bool is_varied_name(const struct token *name)
{
    return name->kind == TOKEN_TEXT || name->kind == TOKEN_ODD_TEXT;
}

static bool has_spans_in_args(const struct token *args)
{
    return args->kind == TOKEN_NESTED && *args->at == '{';
}

/* Where the span that begins at lesson->at ends, and what follows it; NULL: rule 4. */
static const unsigned char *span_end(struct lesson *lesson, unsigned char *follows)
{
    const struct token *name = &lesson->event->field[EVENT_NAME],
                       *args = &lesson->event->field[EVENT_ARGS];
    const unsigned char *p = lesson->at;
    for (;; p++) {
        bool varied = is_varied_name(name) && p == name->at;
        bool args_begin = has_spans_in_args(args) && p == args->at + 1;
        bool args_end = has_spans_in_args(args) && p == args->at + args->length;
        *follows = varied                                      ? NAME
                   : args_begin && lesson->part == BEFORE_ARGS ? ARGS
                   : args_end && lesson->part == IN_ARGS       ? ARGS_END
                   : p == lesson->stop                         ? END
                   : is_digit(*p)                              ? DIGITS
                   : p - lesson->at == LONGEST_SPAN            ? MORE
                                                               : NOTHING;
        if (*follows != NOTHING)
            return p;
        if (*p == '\\' || *p == 0)
            return NULL;
        if (*p == '"')
            lesson->in_string = !lesson->in_string;
        else if (!lesson->in_string && (*p == '{' || *p == '['))
            lesson->depth++;
        else if (!lesson->in_string && (*p == '}' || *p == ']'))
            lesson->depth--;
    }
}

/* Notes which values begin and end in a span; false if there are too many. */
static bool mark_values(struct lesson *lesson, const unsigned char *end, struct memo_node *node)
{
    const unsigned char *start = lesson->at;
    for (int i = 0; i < EVENT_FIELDS; i++) {
        const struct token *token = &lesson->event->field[i];
        if (token->kind == TOKEN_NONE || (i == EVENT_NAME && is_varied_name(token)) ||
            (i == EVENT_ARGS && has_spans_in_args(token)))
            continue;
        const unsigned char *stop = token->at + token->length;
        bool begins = token->at >= start &&
                      (token->at < end || (token->at == end && node->follows == DIGITS));
        bool ends = stop >= start && stop < end;
        if (!begins && !ends)
            continue;
        struct mark *mark = !begins ? &node->ends : !ends ? &node->begins : NULL;
        if (mark ? mark->field != EVENT_FIELDS : node->whole == MOST_WHOLE)
            return false;
        if (!mark)
            mark = &node->wholes[node->whole++];
        *mark = (struct mark){.field = (unsigned char)i,
                              .kind = (unsigned char)token->kind,
                              .offset = (unsigned char)((begins ? token->at : stop) - start),
                              .length = (unsigned char)(begins && ends ? token->length : 0)};
        lesson->begun |= begins ? 1U << i : 0;
        lesson->ended |= ends ? 1U << i : 0;
    }
    return true;
}

/* Cuts the next span off; false: rule 4. */
static bool next_span(struct lesson *lesson, struct memo_node *node)
{
    *node = (struct memo_node){.ends = {.field = EVENT_FIELDS}, .begins = {.field = EVENT_FIELDS}};
    const unsigned char *end = span_end(lesson, &node->follows);
    if (!end || !mark_values(lesson, end, node))
        return false;
    node->length = (unsigned char)(end - lesson->at);
    if (node->follows == DIGITS) {
        end = after_digits(end);
    } else if (node->follows == NAME) {
        end += lesson->event->field[EVENT_NAME].length;
    } else if (node->follows == ARGS) {
        lesson->part = IN_ARGS;
        lesson->depth = 1;
    } else if (node->follows == ARGS_END) {
        lesson->part = BEHIND_ARGS;
    }
    lesson->at = end;
    if (node->follows == END && lesson->begun != lesson->ended)
        return false;
    node->has_values =
        node->whole > 0 || node->ends.field != EVENT_FIELDS || node->begins.field != EVENT_FIELDS;
    node->depth = (uint16_t)lesson->depth;
    node->in_string = lesson->in_string;
    node->resumes = lesson->part == IN_ARGS && node->follows != MORE &&
                    lesson->begun == lesson->ended && lesson->depth <= UINT16_MAX;
    node->phase = lesson->event->phase;
    node->passed_over = lesson->event->passed_over;
    return true;
}

/* Appends a node, whose text stands at `at`; 0 if there is no room. */
static uint16_t append(struct memo *memo, const struct memo_node *node, const unsigned char *at)
{
    if (memo->count == MOST_NODES || memo->used + node->length > MOST_TEXT ||
        !MEMORY_GROW(memo->nodes, memo->capacity, memo->count + 1)) {
        memo->full = true;
        return 0;
    }
    uint16_t i = (uint16_t)memo->count++;
    memo->nodes[i] = *node;
    memo->nodes[i].text = (uint32_t)memo->used;
    memcpy(memo->text + memo->used, at, node->length);
    size_t head = node->length < COMPARED ? node->length : COMPARED;
    memcpy(memo->nodes[i].head, at, head);
    memo->nodes[i].head_mask = (uint16_t)((1U << head) - 1);
    memo->used += node->length;
    return i;
}

/* Forgets the child of a node that was met least lately. */
static void forget_last(struct memo *memo, uint16_t parent)
{
    uint16_t *link = &memo->nodes[parent].child;
    while (memo->nodes[*link].sibling)
        link = &memo->nodes[*link].sibling;
    *link = 0;
    memo->nodes[parent].children--;
}

/* The child of a node that is this span, or a new one; 0 if there is no room. */
static uint16_t child_of(struct memo *memo, uint16_t parent, const struct memo_node *span,
                         const unsigned char *at)
{
    static const struct memo_node nothing = {0};
    for (uint16_t i = memo->nodes[parent].child; i; i = memo->nodes[i].sibling) {
        const struct memo_node *known = &memo->nodes[i];
        if (known->length == span->length && known->follows == span->follows &&
            memcmp(memo->text + known->text, at, span->length) == 0)
            return i;
    }
    if (memo->nodes[parent].children == MOST_CHILDREN) {
        if (memo->nodes[parent].resumes)
            return 0;
        forget_last(memo, parent);
    }
    uint16_t behind_args = span->follows == ARGS ? append(memo, &nothing, at) : 0;
    uint16_t i = append(memo, span, at);
    if (i == 0 || (span->follows == ARGS && behind_args == 0))
        return 0;
    memo->nodes[i].behind_args = behind_args;
    memo->nodes[i].sibling = memo->nodes[parent].child;
    memo->nodes[parent].child = i;
    memo->nodes[parent].children++;
    return i;
}

void memo_learn(struct memo *memo, const unsigned char *p, const unsigned char *stop,
                const struct event *event)
{
    struct lesson lesson = {.at = p, .stop = stop, .event = event};
    uint16_t parent = 0, behind_args = 0;
    struct memo_node span;
    if (!memo->unknown || memo->credit < LEARNING || event->flawed || event->phase == 0 ||
        is_digit(event->phase))
        return;
    if (memo->unknown->resumes && memo->unknown->children == MOST_CHILDREN)
        return;
    memo->credit -= LEARNING;
    memo->unknown = NULL;
    if (memo->full) { /* what was met long ago makes room for what is met now */
        memo->nodes[0] = (struct memo_node){0};
        memo->count = 1;
        memo->used = 0;
        memo->full = false;
    }
    do {
        const unsigned char *at = lesson.at;
        if (!next_span(&lesson, &span))
            return;
        parent = child_of(memo, parent, &span, at);
        if (parent == 0)
            return;
        if (span.follows == ARGS)
            behind_args = memo->nodes[parent].behind_args;
        else if (span.follows == ARGS_END)
            parent = behind_args;
    } while (span.follows != END);
}
