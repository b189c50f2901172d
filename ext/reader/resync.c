#include "resync.h"

#include <string.h>

#include "text/scan.h"

/* Bytes to examine before and after a place where reading may resume. They are in memory, unless
** the document ends. A decision must not depend on other bytes, even if these are in memory. */
enum { LOOK_BACK = 128, LOOK_AHEAD = 256 };

static const unsigned char *limit_of(const struct excerpt *excerpt, const unsigned char *p)
{
    const unsigned char *end = excerpt->bytes + excerpt->end;
    return end - p > LOOK_AHEAD ? p + LOOK_AHEAD : end;
}

/* Whether more bytes must be read to decide at `p`. */
static bool is_undecided(const struct excerpt *excerpt, const unsigned char *p)
{
    return !excerpt->last && excerpt->bytes + excerpt->end - p < LOOK_AHEAD;
}

static const unsigned char *next_after(const unsigned char *p, const unsigned char *limit)
{
    p = scan_space(p + 1);
    return p < limit ? p : limit;
}

/* Whether a key of a NULL-terminated list is at `p`, followed by a colon. */
static bool is_key(const unsigned char *p, const unsigned char *limit, const char *const *keys)
{
    for (; p < limit && *p == '"' && *keys; keys++) {
        size_t length = strlen(*keys);
        if ((size_t)(limit - p) > length + 2 && memcmp(p + 1, *keys, length) == 0 &&
            p[length + 1] == '"') {
            p = next_after(p + length + 1, limit);
            return p < limit && *p == ':';
        }
    }
    return false;
}

static const char *const event_keys[] = {"ph",  "name", "cat", "ts",   "dur",
                                         "pid", "tid",  "id",  "args", NULL};
static const char *const document_keys[] = {
    "traceEvents",      "distributedInfo", "baseTimeNanoseconds", "displayTimeUnit", "traceName",
    "deviceProperties", "schemaVersion",   "otherData",           "metadata",        NULL};

/* Whether reading can probably resume at `p`: a brace that begins an event, a bracket that ends the
** list of events, or a quote that begins a top-level key. Also checks the text before `p`, but not
** before the byte `from` of the document. */
static bool may_go_on(const struct excerpt *excerpt, int64_t from, bool array_form,
                      const unsigned char *p)
{
    const unsigned char *limit = limit_of(excerpt, p), *before = p;
    const unsigned char *first = excerpt->bytes;
    if (*p == '"')
        return is_key(p, limit, document_keys);
    if (from > excerpt->origin)
        first += from - excerpt->origin;
    if (p - first > LOOK_BACK)
        first = p - LOOK_BACK;
    while (before > first && before[-1] <= ' ')
        before--;
    bool known = before > first;
    unsigned char previous = known ? before[-1] : 0;
    const unsigned char *next = next_after(p, limit);
    if (*p == '{')
        return previous != ':' && previous != '[' && is_key(next, limit, event_keys);
    if (known && previous != '}')
        return false;
    if (!array_form && next < limit && *next == ',')
        return is_key(next_after(next, limit), limit, document_keys);
    if (!array_form) {
        if (next >= limit || *next != '}')
            return false;
        next = next_after(next, limit);
    }
    return next >= limit;
}

/* Reads more of the document and continues at `at`. Keeps the bytes for looking back. False on
** failure; sets `*done` at the end of the document. */
static bool read_on(struct excerpt *excerpt, bool *done, struct failure *failure)
{
    size_t keep = excerpt->at > LOOK_BACK ? excerpt->at - LOOK_BACK : 0;
    enum more more = excerpt_read(excerpt, keep, failure);
    *done = more == MORE_END && excerpt->at >= excerpt->end;
    return more != MORE_FAILED;
}

/* Searches for one of the bytes in `marks` (at most two) where reading can probably resume. */
static bool search(struct excerpt *excerpt, bool array_form, const char *marks,
                   struct skipped_events *skipped, struct failure *failure)
{
    const int64_t from = excerpt->origin + (int64_t)excerpt->at;
    for (bool done = false; !done;) {
        for (; excerpt->at < excerpt->end; excerpt->at++) {
            const unsigned char *p = excerpt->bytes + excerpt->at;
            if (*p == marks[0] || (*p == marks[1] && marks[1])) {
                if (is_undecided(excerpt, p))
                    break;
                if (may_go_on(excerpt, from, array_form, p))
                    return true;
            }
            skipped_events_take(skipped, *p);
        }
        if (!read_on(excerpt, &done, failure))
            return false;
    }
    return true;
}

bool resync_events(struct excerpt *excerpt, bool array_form, bool end_too,
                   struct skipped_events *skipped, struct failure *failure)
{
    skipped->matched = 0;
    return search(excerpt, array_form, end_too ? "{]" : "{", skipped, failure);
}

bool resync_keys(struct excerpt *excerpt, struct skipped_events *skipped, struct failure *failure)
{
    return search(excerpt, false, "\"", skipped, failure);
}

bool resync_is_event(struct excerpt *excerpt, bool *event, struct failure *failure)
{
    bool done;
    while (is_undecided(excerpt, excerpt->bytes + excerpt->at))
        if (!read_on(excerpt, &done, failure))
            return false;
    const unsigned char *p = excerpt->bytes + excerpt->at, *limit = limit_of(excerpt, p);
    *event = is_key(next_after(p, limit), limit, event_keys);
    return true;
}

bool resync_after_value(struct excerpt *excerpt, struct skipped_events *skipped,
                        struct failure *failure)
{
    bool string = false, escape = false;
    int64_t depth = 0;
    for (;;) {
        for (; excerpt->at < excerpt->end; excerpt->at++) {
            unsigned char c = excerpt->bytes[excerpt->at];
            skipped_events_take(skipped, c);
            if (escape)
                escape = false;
            else if (string && c == '\\')
                escape = true;
            else if (c == '"')
                string = !string;
            else if (!string && (c == '{' || c == '['))
                depth++;
            else if (!string && (c == '}' || c == ']'))
                depth--;
            if (depth < 0 || (depth == 0 && !string && c == ','))
                return true; /* a bare word or a string ends before this byte */
            if (depth == 0 && !string && (c == '}' || c == ']')) {
                excerpt->at++;
                return true;
            }
        }
        enum more more = excerpt_read(excerpt, excerpt->at, failure);
        if (more != MORE_YES)
            return more != MORE_FAILED;
    }
}
