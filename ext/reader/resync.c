#include "resync.h"

#include <string.h>

#include "scan.h"

enum { LOOK_BACK = 256 /* bytes kept before a place where reading may go on */ };

/* Whether a key stands at the quote `p`, with a colon after it, that is one of a
** NULL-terminated list. */
static bool is_key(const unsigned char *p, const unsigned char *end, const char *const *keys)
{
    for (; *keys; keys++) {
        size_t length = strlen(*keys);
        if ((size_t)(end - p) > length + 2 && memcmp(p + 1, *keys, length) == 0 &&
            p[length + 1] == '"' && *scan_space(p + length + 2) == ':')
            return true;
    }
    return false;
}

static const char *const event_keys[] = {"ph",  "name", "cat", "ts",   "dur",
                                         "pid", "tid",  "id",  "args", NULL};
static const char *const document_keys[] = {
    "traceEvents",      "distributedInfo", "baseTimeNanoseconds", "displayTimeUnit", "traceName",
    "deviceProperties", "schemaVersion",   "otherData",           "metadata",        NULL};

/* Whether the byte at `p`, a brace, is likely the beginning of an event; or, a
** bracket, the end of the list of events. What stands before it is looked at for a
** little way, and not before the byte `from` of the document, so that it does not
** matter what of it is in memory. `*undecided` is set if more text is needed. */
static bool may_go_on(const struct window *window, int64_t from, bool array_form,
                      const unsigned char *p, bool *undecided)
{
    const unsigned char *end = window->bytes + window->end, *before = p;
    const unsigned char *first = window->bytes;
    if (from > window->origin)
        first += from - window->origin;
    if (p - first > LOOK_BACK / 2)
        first = p - LOOK_BACK / 2;
    while (before > first && before[-1] <= ' ')
        before--;
    bool known = before > first;
    unsigned char previous = known ? before[-1] : 0;
    const unsigned char *next = scan_space(p + 1);
    *undecided = !window->last && end - next < LOOK_BACK / 2;
    if (*p == '{')
        return previous != ':' && previous != '[' && *next == '"' && is_key(next, end, event_keys);
    if (known && previous != '}')
        return false;
    if (!array_form && *next == ',') {
        next = scan_space(next + 1);
        return *next == '"' && is_key(next, end, document_keys);
    }
    if (!array_form) {
        if (*next != '}')
            return false;
        next = scan_space(next + 1);
    }
    *undecided = *undecided || (next >= end && !window->last);
    return next >= end;
}

bool resync_events(struct window *window, bool array_form, bool end_too, struct failure *failure)
{
    const int64_t from = window->origin + (int64_t)window->at;
    for (;;) {
        const unsigned char *p = window->bytes + window->at;
        const unsigned char *end = window->bytes + window->end;
        for (; p < end; p++) {
            bool undecided = false;
            if (*p != '{' && (*p != ']' || !end_too))
                continue;
            bool found = may_go_on(window, from, array_form, p, &undecided);
            if (undecided)
                break;
            if (found) {
                window->at = (size_t)(p - window->bytes);
                return true;
            }
        }
        window->at = (size_t)(p - window->bytes);
        size_t keep = window->at > LOOK_BACK ? window->at - LOOK_BACK : 0;
        enum more more = window_read(window, keep, failure);
        if (more == MORE_FAILED)
            return false;
        if (more == MORE_END && window->at >= window->end)
            return true;
        if (more == MORE_TOO_LONG)
            window->at++; /* no event, with 16 MiB of white space after it */
    }
}

bool resync_is_event(struct window *window, bool *event, struct failure *failure)
{
    while (!window->last && window->end - window->at < LOOK_BACK)
        if (window_read(window, window->at, failure) == MORE_FAILED)
            return false;
    const unsigned char *next = scan_space(window->bytes + window->at + 1);
    *event = *next == '"' && is_key(next, window->bytes + window->end, event_keys);
    return true;
}

bool resync_keys(struct window *window, struct failure *failure)
{
    for (;;) {
        for (; window->at < window->end; window->at++) {
            const unsigned char *p = window->bytes + window->at;
            if (!window->last && window->end - window->at < LOOK_BACK)
                break;
            if (*p == '"' && is_key(p, window->bytes + window->end, document_keys))
                return true;
        }
        enum more more = window_read(window, window->at, failure);
        if (more == MORE_FAILED)
            return false;
        if (more == MORE_END && window->at >= window->end)
            return true;
    }
}
