/*
** The args of events. Args are most of a trace and few queries need them, so they are not kept
** in memory but read from the file again (T6).
**
** 1. Rows asked for in the order of the file are read in one pass.
** 2. A reader that must go back in a file, or back to a file that it has left, reads the whole file
**    once more and holds the args of all its rows until it is closed (held.h).
** 3. The rows of a database are found one by one, in any order; those of another source
**    (row_source.h) as those of a document.
*/
#ifndef TRACEDIFF_ARGS_H
#define TRACEDIFF_ARGS_H

#include "held.h"

enum { ROWS_READERS = 8 /* databases that are kept open */ };

struct args_reader {
    const struct trace_file *file; /* borrowed: the one that is open */
    struct document *document;     /* NULL: no document is open */
    void *begun;                   /* the same of a source */
    struct document_options options;
    int64_t next;    /* position of the event that the document gives next */
    int64_t checked; /* bytes of JSON known to be unchanged since the file was loaded */
    struct held held;
    struct rows_reader {
        struct trace_file *file; /* a part of the database, one reference; NULL: not used */
        void *reader;            /* of its source */
    } rows[ROWS_READERS];
    size_t next_rows;                  /* the one to replace */
    const struct trace_file *row_file; /* borrowed: the file and the row that `text` belongs to */
    size_t row;
    bool found; /* `text` is valid */
    bool there; /* the row has args */
    unsigned char *text;
    size_t length, capacity;
    size_t unasked; /* bytes that a source gave since the stopper was asked */
};

/* Gives the args of a row of a loaded file as strict JSON (mend.h); `*text` is NULL if there are
** none. The text is valid until the next call; SCAN_PADDING zero bytes follow it. Args that were
** mended or left out are counted in file->problems, each event once. False on failure:
** FAILURE_READ, FAILURE_MEMORY, FAILURE_INTERRUPTED. */
bool args_read(struct args_reader *reader, struct trace_file *file, size_t row,
               const struct stopper *stopper, const unsigned char **text, size_t *length,
               struct failure *failure);

/* Closes the file. The struct is zeroed, so it can be used again. */
void args_close(struct args_reader *reader);

#endif
