#include "window.h"

#include <string.h>

#include "memory.h"
#include "scan.h"

void window_clear(struct window *window)
{
    source_close(window->source);
    memory_free(window->bytes);
    failure_clear(&window->damage);
}

int64_t window_byte(const struct window *window, size_t index)
{
    return window->origin + (int64_t)index + 1;
}

/* Makes sure that a chunk can be read behind `kept` bytes. */
static enum more make_room(struct window *window, size_t kept, struct failure *failure)
{
    size_t needed = kept + window->chunk;
    if (kept > window->longest)
        return MORE_TOO_LONG;
    if (needed <= window->capacity)
        return MORE_YES;
    if (needed < window->capacity * 2)
        needed = window->capacity * 2;
    if (needed > window->longest + window->chunk)
        needed = window->longest + window->chunk;
    unsigned char *bytes = memory_resize(window->bytes, needed + SCAN_PADDING);
    if (!bytes) {
        failure_memory(failure);
        return MORE_FAILED;
    }
    window->bytes = bytes;
    window->capacity = needed;
    return MORE_YES;
}

enum more window_read(struct window *window, size_t keep, struct failure *failure)
{
    if (window->stop && window->stop(window->argument)) {
        failure_set(failure, FAILURE_INTERRUPTED, "interrupted");
        return MORE_FAILED;
    }
    if (window->last)
        return MORE_END;
    size_t kept = window->end - keep;
    if (keep > 0) {
        memmove(window->bytes, window->bytes + keep, kept);
        window->origin += (int64_t)keep;
        window->at -= keep;
        window->end = kept;
    }
    enum more more = make_room(window, kept, failure);
    if (more != MORE_YES)
        return more;
    struct failure seen = {FAILURE_NONE, NULL, NULL, 0};
    ptrdiff_t got = source_read(window->source, window->bytes + window->end, window->chunk, &seen);
    if (got < 0 && seen.code != FAILURE_DAMAGE) {
        failure_move(failure, &seen);
        return MORE_FAILED;
    }
    if (got <= 0) {
        window->last = true;
        failure_move(&window->damage, &seen);
        got = 0;
    }
    window->end += (size_t)got;
    memset(window->bytes + window->end, 0, SCAN_PADDING);
    return got > 0 ? MORE_YES : MORE_END;
}

int window_peek(struct window *window, struct failure *failure)
{
    for (;;) {
        if (window->bytes) {
            const unsigned char *p = scan_space(window->bytes + window->at);
            window->at = (size_t)(p - window->bytes);
            if (window->at < window->end)
                return *p;
        }
        enum more more = window_read(window, window->at, failure);
        if (more == MORE_END)
            return WINDOW_END;
        if (more != MORE_YES)
            return WINDOW_FAILED;
    }
}
