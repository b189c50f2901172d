#include "event.h"

#include <string.h>

#include "text.h"

enum { KEY_PHASE = EVENT_FIELDS, KEY_OTHER };

static int key_of(const unsigned char *key, size_t length)
{
    switch (length) {
    case 2:
        if (key[0] == 'p' && key[1] == 'h')
            return KEY_PHASE;
        if (key[0] == 't' && key[1] == 's')
            return EVENT_TS;
        break;
    case 3:
        if (memcmp(key, "dur", 3) == 0)
            return EVENT_DUR;
        if (memcmp(key, "cat", 3) == 0)
            return EVENT_CAT;
        if (memcmp(key, "pid", 3) == 0)
            return EVENT_PID;
        if (memcmp(key, "tid", 3) == 0)
            return EVENT_TID;
        break;
    case 4:
        if (memcmp(key, "name", 4) == 0)
            return EVENT_NAME;
        if (memcmp(key, "args", 4) == 0)
            return EVENT_ARGS;
        break;
    }
    return KEY_OTHER;
}

/* A key that is written with escapes; the longest that matters has 4 letters,
** which makes 24 bytes of \uXXXX. */
static int key_of_odd(const unsigned char *key, size_t length)
{
    unsigned char plain[3 * 24];
    struct problems unused = {0};
    if (length > 24)
        return KEY_OTHER;
    return key_of(plain, text_decode(key, length, plain, &unused, 0));
}

/* args: its object is crossed, and stream and correlation are picked up. */
static const unsigned char *read_args(struct scan *scan, const unsigned char *p,
                                      struct event *event)
{
    struct wanted wanted[] = {{.key = "stream", .length = 6}, {.key = "correlation", .length = 11}};
    struct token *args = &event->field[EVENT_ARGS];
    if (*p != '{')
        return scan_value(scan, p, args);
    const unsigned char *stop = scan_nested(scan, p + 1, 1, wanted, 2);
    if (stop) {
        *args = (struct token){p, (size_t)(stop - p), TOKEN_NESTED};
        event->field[EVENT_STREAM] = wanted[0].value;
        event->field[EVENT_CORRELATION] = wanted[1].value;
    }
    return stop;
}

const unsigned char *event_read(struct scan *scan, const unsigned char *p, const bool *wanted,
                                struct event *event, struct problems *problems)
{
    bool phase_seen = false, duplicate = false, comma = false;
    event->phase = 0;
    event->passed_over = false;
    for (int i = 0; i < EVENT_FIELDS; i++)
        event->field[i].kind = TOKEN_NONE;
    p = scan_space(p);
    while (*p != '}') {
        const unsigned char *key = p + 1;
        enum token_kind kind = TOKEN_TEXT;
        struct token value = {NULL, 0, TOKEN_NONE};
        if (*p != '"')
            return scan_stop(scan, p);
        const unsigned char *stop = scan_string(scan, key, &kind);
        if (!stop)
            return NULL;
        size_t length = (size_t)(stop - key);
        int which = kind == TOKEN_TEXT ? key_of(key, length) : key_of_odd(key, length);
        p = scan_space(stop + 1);
        if (*p != ':')
            return scan_stop(scan, p);
        p = scan_space(p + 1);
        bool again = which == KEY_PHASE
                         ? phase_seen
                         : which < EVENT_FIELDS && event->field[which].kind != TOKEN_NONE;
        duplicate = duplicate || again;
        if (which == EVENT_ARGS && !again)
            p = read_args(scan, p, event);
        else
            p = scan_value(scan, p, &value);
        if (!p)
            return NULL;
        if (which == KEY_PHASE && !again) {
            phase_seen = true;
            if (value.kind == TOKEN_TEXT && value.length == 1) {
                event->phase = *value.at;
                if (!wanted[event->phase]) {
                    event->passed_over = true;
                    return scan_nested(scan, p, 1, NULL, 0);
                }
            }
        } else if (which < EVENT_FIELDS && which != EVENT_ARGS && !again) {
            event->field[which] = value;
        }
        p = scan_space(p);
        comma = *p == ',';
        if (comma)
            p = scan_space(p + 1);
        else if (*p != '}')
            return scan_stop(scan, p);
    }
    if (duplicate)
        problem_add(problems, PROBLEM_DUPLICATE_KEY, event->byte);
    if (comma)
        problem_add(problems, PROBLEM_COMMA, event->byte);
    return p + 1;
}
