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

/* Makes room to read `more` bytes after the `kept` bytes. */
static enum more make_room(struct window *window, size_t kept, size_t more, struct failure *failure)
{
    size_t needed = kept + more;
    if (kept > window->longest)
        return MORE_TOO_LONG;
    if (needed <= window->capacity)
        return MORE_YES;
    unsigned char *bytes = memory_resize(window->bytes, needed + SCAN_PADDING);
    if (!bytes) {
        failure_memory(failure);
        return MORE_FAILED;
    }
    window->bytes = bytes;
    window->capacity = needed;
    return MORE_YES;
}

/* Reads a chunk and appends it. */
static enum more read_chunk(struct window *window, struct failure *failure)
{
    struct failure seen = {FAILURE_NONE, NULL, NULL, 0};
    if (!stopper_ask(&window->stopper, failure))
        return MORE_FAILED;
    ptrdiff_t got = source_read(window->source, window->bytes + window->end, window->chunk, &seen);
    if (window->stopper.read)
        atomic_store_explicit(window->stopper.read, source_position(window->source),
                              memory_order_relaxed);
    if (got < 0 && seen.code != FAILURE_DAMAGE) {
        failure_move(failure, &seen);
        return MORE_FAILED;
    }
    if (got <= 0) {
        window->last = true;
        failure_move(&window->damage, &seen);
        return MORE_END;
    }
    window->end += (size_t)got;
    return MORE_YES;
}

enum more window_read(struct window *window, size_t keep, struct failure *failure)
{
    if (window->last)
        return MORE_END;
    size_t kept = window->end - keep;
    if (keep > 0) {
        memmove(window->bytes, window->bytes + keep, kept);
        window->origin += (int64_t)keep;
        window->at -= keep;
        window->end = kept;
    }
    /* Retained bytes are scanned again, so at least half as much again is read to keep the total
    ** linear. */
    size_t chunks = 1 + kept / 2 / window->chunk;
    size_t most = kept > window->longest ? 1 : 1 + (window->longest - kept) / window->chunk;
    if (chunks > most)
        chunks = most;
    enum more more = make_room(window, kept, chunks * window->chunk, failure);
    if (more != MORE_YES)
        return more;
    for (; more == MORE_YES && chunks > 0; chunks--)
        more = read_chunk(window, failure);
    memset(window->bytes + window->end, 0, SCAN_PADDING);
    return more == MORE_END && window->end > kept ? MORE_YES : more;
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
