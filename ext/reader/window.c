#include "window.h"

#include <string.h>

#include "base/memory.h"
#include "text/scan.h"

void window_clear(struct window *window)
{
    source_close(window->source);
    memory_free(window->own);
    failure_clear(&window->damage);
}

/* Moves the indices along when the bytes before `keep` are dropped. */
static void drop(struct window *window, size_t keep)
{
    window->origin += (int64_t)keep;
    window->at -= keep;
    window->end -= keep;
}

/* Drops the bytes before `keep` and puts the rest into the window's own memory, with room to read
** `more` after it. */
static enum more make_room(struct window *window, size_t keep, size_t more, struct failure *failure)
{
    bool lent = window->bytes != window->own;
    if (lent)
        window->bytes += keep;
    else if (keep > 0)
        memmove(window->own, window->own + keep, window->end - keep);
    drop(window, keep);
    if (window->end + more > window->capacity) {
        unsigned char *own = memory_resize(window->own, window->end + more + SCAN_PADDING);
        if (!own) {
            failure_memory(failure);
            return MORE_FAILED;
        }
        window->bytes = lent ? window->bytes : own;
        window->own = own;
        window->capacity = window->end + more;
    }
    if (lent)
        memcpy(window->own, window->bytes, window->end);
    window->bytes = window->own;
    return MORE_YES;
}

/* Takes what a read of the source has given at the end of the window. */
static enum more take(struct window *window, ptrdiff_t got, struct failure *seen,
                      struct failure *failure)
{
    if (window->stopper.read)
        atomic_store_explicit(window->stopper.read, source_position(window->source),
                              memory_order_relaxed);
    if (got < 0 && seen->code != FAILURE_DAMAGE) {
        failure_move(failure, seen);
        return MORE_FAILED;
    }
    if (got <= 0) {
        window->last = true;
        failure_move(&window->damage, seen);
        return MORE_END;
    }
    window->end += (size_t)got;
    return MORE_YES;
}

/* Reads a chunk and appends it. */
static enum more read_chunk(struct window *window, struct failure *failure)
{
    struct failure seen = {FAILURE_NONE, NULL, NULL, 0};
    if (!stopper_ask(&window->stopper, failure))
        return MORE_FAILED;
    ptrdiff_t got = source_read(window->source, window->bytes + window->end, window->chunk, &seen);
    return take(window, got, &seen, failure);
}

/* As window_read(), in what the source lends. */
static enum more borrow(struct window *window, size_t keep, struct failure *failure)
{
    struct failure seen = {FAILURE_NONE, NULL, NULL, 0};
    const unsigned char *kept = window->bytes ? window->bytes + keep : NULL;
    unsigned char *bytes;
    if (!stopper_ask(&window->stopper, failure))
        return MORE_FAILED;
    ptrdiff_t got = source_lend(window->source, kept, window->end - keep, &bytes, &seen);
    if (got > 0) {
        window->bytes = bytes;
        drop(window, keep);
    }
    return take(window, got, &seen, failure);
}

/* As window_read(), in the window's own memory. */
static enum more read_own(struct window *window, size_t keep, struct failure *failure)
{
    /* Retained bytes are scanned again, so at least half as much again is read to keep the total
    ** linear. */
    size_t kept = window->end - keep, chunks = 1 + kept / 2 / window->chunk;
    if (kept > window->longest)
        return MORE_TOO_LONG;
    size_t most = 1 + (window->longest - kept) / window->chunk;
    if (chunks > most)
        chunks = most;
    enum more more = make_room(window, keep, chunks * window->chunk, failure);
    for (; more == MORE_YES && chunks > 0; chunks--)
        more = read_chunk(window, failure);
    return more == MORE_END && window->end > kept ? MORE_YES : more;
}

enum more window_read(struct window *window, size_t keep, struct failure *failure)
{
    if (window->last)
        return MORE_END;
    bool lends = window->chunk >= SOURCE_LENT && window->end - keep <= SOURCE_LENT_BEFORE &&
                 source_lends(window->source);
    enum more more = lends ? borrow(window, keep, failure) : read_own(window, keep, failure);
    if (window->bytes)
        memset(window->bytes + window->end, 0, SCAN_PADDING);
    return more;
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
