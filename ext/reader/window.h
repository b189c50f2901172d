/*
** The piece of the document that is in memory; it moves along the file.
**
** `bytes[at .. end)` has been read but not used yet; SCAN_PADDING zeros follow. Reading more
** drops the bytes before an index that the caller gives and keeps the rest, so that a token cut
** by the end of a chunk becomes whole.
*/
#ifndef TRACEDIFF_WINDOW_H
#define TRACEDIFF_WINDOW_H

#include "base/failure.h"
#include "source/source.h"
#include "base/stopper.h"

struct window {
    struct source *source; /* owned */
    size_t chunk;          /* bytes read at a time, of which a source lends more or fewer */
    size_t longest;        /* at most this, plus a chunk, is retained */
    struct stopper stopper;

    unsigned char *bytes; /* `own`, or lent by the source */
    unsigned char *own;   /* owned */
    size_t capacity;      /* of `own`, without the padding */
    size_t at, end;
    int64_t origin;        /* number of bytes of the document before bytes[0] */
    bool last;             /* nothing follows bytes[end] */
    struct failure damage; /* the reason, if the gzip data is damaged there */
};

enum more {
    MORE_YES,
    MORE_END,      /* the document has ended; `last` is set */
    MORE_TOO_LONG, /* `longest` bytes are already retained; nothing was read */
    MORE_FAILED    /* FAILURE_READ, FAILURE_MEMORY, FAILURE_INTERRUPTED */
};

/* Frees what the window owns. */
void window_clear(struct window *window);

/* Reads more. The bytes before the index `keep` are dropped, and `at` moves along with the rest. */
enum more window_read(struct window *window, size_t keep, struct failure *failure);

/* The next byte that is not white space; it is then bytes[at]. WINDOW_END at the end of the
** document. */
enum { WINDOW_END = -1, WINDOW_FAILED = -2 };
int window_peek(struct window *window, struct failure *failure);

/* The byte of the document, from 1, at an index. */
static inline int64_t window_byte(const struct window *window, size_t index)
{
    return window->origin + (int64_t)index + 1;
}

#endif
