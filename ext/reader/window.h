/*
** A piece of the document in memory, moved along the file.
**
** `bytes[at .. end)` has been read and not been used yet; SCAN_PADDING zeros
** follow. Reading on gives up what stands before a byte the caller names and
** keeps the rest, so that what a chunk's end has cut becomes whole.
*/
#ifndef TRACEDIFF_WINDOW_H
#define TRACEDIFF_WINDOW_H

#include "failure.h"
#include "source.h"
#include "stopper.h"

struct window {
    struct source *source; /* owned */
    size_t chunk;          /* bytes read at a time */
    size_t longest;        /* no more than this, and a chunk, is kept */
    struct stopper stopper;

    unsigned char *bytes; /* owned */
    size_t capacity;      /* without the padding */
    size_t at, end;
    int64_t origin;        /* bytes of the document before bytes[0] */
    bool last;             /* nothing comes after bytes[end] */
    struct failure damage; /* why, if the gzip data is broken there */
};

enum more {
    MORE_YES,
    MORE_END,      /* the document has ended; `last` is set */
    MORE_TOO_LONG, /* `longest` bytes are kept already; nothing was read */
    MORE_FAILED    /* FAILURE_READ, FAILURE_MEMORY, FAILURE_INTERRUPTED */
};

/* Frees what the window owns. */
void window_clear(struct window *window);

/* Reads on. What stands before the index `keep` is given up, and `at` moves
** along with the bytes. */
enum more window_read(struct window *window, size_t keep, struct failure *failure);

/* The next byte that is not white space, which is then bytes[at]; WINDOW_END at
** the end of the document. */
enum { WINDOW_END = -1, WINDOW_FAILED = -2 };
int window_peek(struct window *window, struct failure *failure);

/* The byte of the document, from 1, at an index. */
int64_t window_byte(const struct window *window, size_t index);

#endif
