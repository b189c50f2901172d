#include "excerpt.h"

#include <string.h>

#include "base/memory.h"
#include "text/scan.h"

void excerpt_clear(struct excerpt *excerpt)
{
    source_close(excerpt->source);
    memory_free(excerpt->own);
    failure_clear(&excerpt->damage);
}

/* Shifts the indices after the bytes before `keep` are dropped. */
static void drop(struct excerpt *excerpt, size_t keep)
{
    excerpt->origin += (int64_t)keep;
    excerpt->at -= keep;
    excerpt->end -= keep;
}

/* Drops the bytes before `keep` and moves the rest into the excerpt's own memory, with room for
** `more` bytes after it. */
static enum more make_room(struct excerpt *excerpt, size_t keep, size_t more,
                           struct failure *failure)
{
    bool lent = excerpt->bytes != excerpt->own;
    if (lent)
        excerpt->bytes += keep;
    else if (keep > 0)
        memmove(excerpt->own, excerpt->own + keep, excerpt->end - keep);
    drop(excerpt, keep);
    if (excerpt->end + more > excerpt->capacity) {
        unsigned char *own = memory_resize(excerpt->own, excerpt->end + more + SCAN_PADDING);
        if (!own) {
            failure_memory(failure);
            return MORE_FAILED;
        }
        excerpt->bytes = lent ? excerpt->bytes : own;
        excerpt->own = own;
        excerpt->capacity = excerpt->end + more;
    }
    if (lent)
        memcpy(excerpt->own, excerpt->bytes, excerpt->end);
    excerpt->bytes = excerpt->own;
    return MORE_YES;
}

/* Appends the bytes from a read of the source to the excerpt. */
static enum more take(struct excerpt *excerpt, ptrdiff_t got, struct failure *seen,
                      struct failure *failure)
{
    if (excerpt->stopper.read)
        atomic_store_explicit(excerpt->stopper.read, source_position(excerpt->source),
                              memory_order_relaxed);
    if (got < 0 && seen->code != FAILURE_DAMAGE) {
        failure_move(failure, seen);
        return MORE_FAILED;
    }
    if (got <= 0) {
        excerpt->last = true;
        failure_move(&excerpt->damage, seen);
        return MORE_END;
    }
    excerpt->end += (size_t)got;
    return MORE_YES;
}

/* Reads a chunk and appends it. */
static enum more read_chunk(struct excerpt *excerpt, struct failure *failure)
{
    struct failure seen = {FAILURE_NONE, NULL, NULL, 0};
    if (!stopper_ask(&excerpt->stopper, failure))
        return MORE_FAILED;
    ptrdiff_t got =
        source_read(excerpt->source, excerpt->bytes + excerpt->end, excerpt->chunk, &seen);
    return take(excerpt, got, &seen, failure);
}

/* Does excerpt_read() with memory lent by the source. */
static enum more borrow(struct excerpt *excerpt, size_t keep, struct failure *failure)
{
    struct failure seen = {FAILURE_NONE, NULL, NULL, 0};
    const unsigned char *kept = excerpt->bytes ? excerpt->bytes + keep : NULL;
    unsigned char *bytes;
    if (!stopper_ask(&excerpt->stopper, failure))
        return MORE_FAILED;
    ptrdiff_t got = source_lend(excerpt->source, kept, excerpt->end - keep, &bytes, &seen);
    if (got > 0) {
        excerpt->bytes = bytes;
        drop(excerpt, keep);
    }
    return take(excerpt, got, &seen, failure);
}

/* Does excerpt_read() with the excerpt's own memory. */
static enum more read_own(struct excerpt *excerpt, size_t keep, struct failure *failure)
{
    /* Retained bytes are scanned again: reading half as many new ones keeps the cost linear. */
    size_t kept = excerpt->end - keep, chunks = 1 + kept / 2 / excerpt->chunk;
    if (kept > excerpt->longest)
        return MORE_TOO_LONG;
    size_t most = 1 + (excerpt->longest - kept) / excerpt->chunk;
    if (chunks > most)
        chunks = most;
    enum more more = make_room(excerpt, keep, chunks * excerpt->chunk, failure);
    for (; more == MORE_YES && chunks > 0; chunks--)
        more = read_chunk(excerpt, failure);
    return more == MORE_END && excerpt->end > kept ? MORE_YES : more;
}

enum more excerpt_read(struct excerpt *excerpt, size_t keep, struct failure *failure)
{
    if (excerpt->last)
        return MORE_END;
    bool lends = excerpt->chunk >= SOURCE_LENT && excerpt->end - keep <= SOURCE_LENT_BEFORE &&
                 source_lends(excerpt->source);
    enum more more = lends ? borrow(excerpt, keep, failure) : read_own(excerpt, keep, failure);
    if (excerpt->bytes)
        memset(excerpt->bytes + excerpt->end, 0, SCAN_PADDING);
    return more;
}

int excerpt_peek(struct excerpt *excerpt, struct failure *failure)
{
    for (;;) {
        if (excerpt->bytes) {
            const unsigned char *p = scan_space(excerpt->bytes + excerpt->at);
            excerpt->at = (size_t)(p - excerpt->bytes);
            if (excerpt->at < excerpt->end)
                return *p;
        }
        enum more more = excerpt_read(excerpt, excerpt->at, failure);
        if (more == MORE_END)
            return EXCERPT_END;
        if (more != MORE_YES)
            return EXCERPT_FAILED;
    }
}
