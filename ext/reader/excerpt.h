/*
** The piece of the document that is in memory; it moves along the file.
**
** `bytes[at .. end)` has been read but not used yet; SCAN_PADDING zeros follow. Reading more
** drops the bytes before an index that the caller gives and keeps the rest, so that a token cut
** by the end of a chunk becomes whole.
*/
#ifndef TRACEDIFF_EXCERPT_H
#define TRACEDIFF_EXCERPT_H

#include "base/failure.h"
#include "base/stopper.h"
#include "source/source.h"

struct excerpt {
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

/* Frees what the excerpt owns. */
void excerpt_clear(struct excerpt *excerpt);

/* Reads more. The bytes before the index `keep` are dropped, and `at` moves along with the rest. */
enum more excerpt_read(struct excerpt *excerpt, size_t keep, struct failure *failure);

/* The next byte that is not white space; it is then bytes[at]. EXCERPT_END at the end of the
** document. */
enum { EXCERPT_END = -1, EXCERPT_FAILED = -2 };
int excerpt_peek(struct excerpt *excerpt, struct failure *failure);

/* The byte of the document, from 1, at an index. */
static inline int64_t excerpt_byte(const struct excerpt *excerpt, size_t index)
{
    return excerpt->origin + (int64_t)index + 1;
}

#endif
