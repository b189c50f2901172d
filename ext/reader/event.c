#include "event.h"

#include <string.h>

#include "text/text.h"

/* Keys that are not fields. */
enum { KEY_PHASE = EVENT_FIELDS, KEY_ID, KEY_OTHER };

enum { LONGEST_ESCAPE = 6 /* bytes of an escape for one ASCII character */ };

/* Finds a key that may contain escapes. */
static int key_of(const unsigned char *key, size_t length)
{
    static const struct {
        const char *key;
        int field;
    } keys[] = {{"ph", KEY_PHASE},  {"ts", EVENT_TS},     {"dur", EVENT_DUR},
                {"cat", EVENT_CAT}, {"pid", EVENT_PID},   {"tid", EVENT_TID},
                {"id", KEY_ID},     {"name", EVENT_NAME}, {"args", EVENT_ARGS}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (text_says(key, length, keys[i].key))
            return keys[i].field;
    return KEY_OTHER;
}

/* A faster key_of() for text that begins with a key and its closing quote. Sets `*length` to the
** length of the key. KEY_OTHER: another key, or one with escapes. */
static inline int key_at(const unsigned char *key, size_t *length)
{
#define KEY4(a, b, c, d) \
    ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)
    uint32_t word = KEY4(key[0], key[1], key[2], key[3]);
    *length = 3;
    switch (word) {
    case KEY4('d', 'u', 'r', '"'):
        return EVENT_DUR;
    case KEY4('c', 'a', 't', '"'):
        return EVENT_CAT;
    case KEY4('p', 'i', 'd', '"'):
        return EVENT_PID;
    case KEY4('t', 'i', 'd', '"'):
        return EVENT_TID;
    }
    *length = 4;
    if (key[4] == '"' && word == KEY4('n', 'a', 'm', 'e'))
        return EVENT_NAME;
    if (key[4] == '"' && word == KEY4('a', 'r', 'g', 's'))
        return EVENT_ARGS;
    *length = 2;
    if ((word & 0xffffff) == KEY4('p', 'h', '"', 0))
        return KEY_PHASE;
    if ((word & 0xffffff) == KEY4('t', 's', '"', 0))
        return EVENT_TS;
    if ((word & 0xffffff) == KEY4('i', 'd', '"', 0))
        return KEY_ID;
    return KEY_OTHER;
#undef KEY4
}

/* Like phase_of(), for a string with escapes. */
static __attribute__((cold)) unsigned char escaped_phase(const struct token *ph)
{
    unsigned char decoded[3 * LONGEST_ESCAPE];
    struct problems unused = {0};
    if (ph->length > LONGEST_ESCAPE ||
        text_decode(ph->at, ph->length, decoded, &unused, 0) != 1 || decoded[0] < ' ')
        return 0;
    return decoded[0];
}

/* The phase in `ph`, as in struct event. */
static inline unsigned char phase_of(const struct token *ph)
{
    if (ph->kind == TOKEN_TEXT)
        return ph->length == 1 ? *ph->at : 0;
    return ph->kind == TOKEN_ODD_TEXT ? escaped_phase(ph) : 0;
}

const unsigned char *event_cross_args(struct scan *scan, const unsigned char *p,
                                      struct event *event)
{
    struct token *stream = &event->field[EVENT_STREAM];
    struct token *correlation = &event->field[EVENT_CORRELATION];
    struct wanted wanted[] = {{.key = "stream", .length = 6, .value = *stream},
                              {.key = "correlation", .length = 11, .value = *correlation}};
    p = scan_nested(scan, p, '}', wanted, 2);
    *stream = wanted[0].value;
    *correlation = wanted[1].value;
    return p;
}

void event_keep_name(const struct event *event, const char *text, uint32_t number)
{
    struct known_name *name = event->new_name;
    size_t length = event->field[EVENT_NAME].length;
    size_t head = length < sizeof name->head ? length : sizeof name->head;
    if (!name || length > UINT16_MAX)
        return;
    memcpy(name->head, text, head);
    name->text = (const unsigned char *)text;
    name->number = number;
    name->length = (uint16_t)length;
    name->head_mask = (uint16_t)((1U << head) - 1);
}

static const unsigned char *read_args(struct scan *scan, const unsigned char *p,
                                      struct event *event)
{
    struct token *args = &event->field[EVENT_ARGS];
    if (*p != '{')
        return scan_value(scan, p, args);
    const unsigned char *stop = event_cross_args(scan, p + 1, event);
    if (stop)
        *args = (struct token){p, (size_t)(stop - p), TOKEN_NESTED};
    return stop;
}

/* Reads a key and its colon. Returns the first byte of the value. */
static inline const unsigned char *read_key(struct scan *scan, const unsigned char *p, int *which)
{
    const unsigned char *key = p + 1;
    size_t length;
    if (*p != '"')
        return scan_stop(scan, p);
    *which = key_at(key, &length);
    if (*which == KEY_OTHER) {
        enum token_kind kind = TOKEN_TEXT;
        const unsigned char *stop = scan_string(scan, key, &kind);
        if (!stop)
            return NULL;
        length = (size_t)(stop - key);
        if (kind == TOKEN_ODD_TEXT)
            *which = key_of(key, length);
    }
    p = scan_space(key + length + 1);
    return *p == ':' ? scan_space(p + 1) : scan_stop(scan, p);
}

const unsigned char *event_read(struct scan *scan, const unsigned char *p, const bool *wanted,
                                struct event *event, struct problems *problems)
{
    bool duplicate = false, comma = false;
    struct token phase = {.kind = TOKEN_NONE};
    event->phase = 0;
    event->passed_over = event->flawed = false;
    event->form = 0;
    event->known_name = event->new_name = NULL;
    event->reading = NULL;
    event->id.kind = TOKEN_NONE;
    for (int i = 0; i < EVENT_FIELDS; i++)
        event->field[i].kind = TOKEN_NONE;
    p = scan_space(p);
    event->empty = *p == '}';
    while (*p != '}') {
        struct token ignored = {.kind = TOKEN_NONE};
        int which;
        p = read_key(scan, p, &which);
        if (!p)
            return NULL;
        struct token *to = which == KEY_OTHER   ? &ignored
                           : which == KEY_PHASE ? &phase
                           : which == KEY_ID    ? &event->id
                                                : &event->field[which];
        if (to->kind != TOKEN_NONE) {
            duplicate = duplicate || which != KEY_ID;
            to = &ignored;
        }
        bool args = which == EVENT_ARGS && to != &ignored;
        p = args ? read_args(scan, p, event) : scan_value(scan, p, to);
        if (!p)
            return NULL;
        if (to == &phase && (event->phase = phase_of(to)) != 0) {
            if (!wanted[event->phase]) {
                event->passed_over = true;
                return scan_nested(scan, p, '}', NULL, 0);
            }
        }
        p = scan_space(p);
        comma = *p == ',';
        if (comma)
            p = scan_space(p + 1);
        else if (*p != '}')
            return scan_stop(scan, p);
    }
    event->flawed = duplicate || comma;
    if (duplicate)
        problem_add(problems, PROBLEM_DUPLICATE_KEY, event->byte);
    if (comma)
        problem_add(problems, PROBLEM_COMMA, event->byte);
    return p + 1;
}
