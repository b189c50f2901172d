/*
** The piece of the document that is in memory; it moves along the file.
**
** `bytes[at .. end)` is read but not used yet; SCAN_PADDING zeros follow. Reading more drops the
** bytes before an index given by the caller and keeps the rest, so a token cut by the end of a
** chunk becomes whole.
*/
#ifndef TRACEDIFF_EXCERPT_H
#define TRACEDIFF_EXCERPT_H

#include "base/failure.h"
#include "base/stopper.h"
#include "source/source.h"

struct excerpt {
    struct source *source; /* owned */
    size_t chunk;          /* bytes per read; a source may lend more or fewer */
    size_t longest;        /* limit of retained bytes, plus a chunk */
    struct stopper stopper;

    unsigned char *bytes; /* `own`, or lent by the source */
    unsigned char *own;   /* owned */
    size_t capacity;      /* of `own`, without padding */
    size_t at, end;
    int64_t origin;        /* offset of bytes[0] in the document */
    bool last;             /* nothing follows bytes[end] */
    struct failure damage; /* the reason, if the gzip data is damaged after bytes[end] */
};

enum more {
    MORE_YES,
    MORE_END,      /* the document has ended; `last` is set */
    MORE_TOO_LONG, /* `longest` bytes are already retained, so nothing was read */
    MORE_FAILED    /* FAILURE_READ, FAILURE_MEMORY, FAILURE_INTERRUPTED */
};

/* Frees the memory of the excerpt. */
void excerpt_clear(struct excerpt *excerpt);

/* Reads more, and drops the bytes before the index `keep`. `at` is adjusted. */
enum more excerpt_read(struct excerpt *excerpt, size_t keep, struct failure *failure);

/* Skips white space and returns the byte that is then at bytes[at]. EXCERPT_END at the end. */
enum { EXCERPT_END = -1, EXCERPT_FAILED = -2 };
int excerpt_peek(struct excerpt *excerpt, struct failure *failure);

/* The offset in the document, from 1, for an index. */
static inline int64_t excerpt_byte(const struct excerpt *excerpt, size_t index)
{
    return excerpt->origin + (int64_t)index + 1;
}

#endif
