/*
** Reads the args of events. Args are most of a trace and few queries need them, so they stay on
** disk and are read again on demand (T6).
**
** 1. Rows requested in file order are read in one pass.
** 2. If a reader must go back within a file, or return to an earlier file, it reads that whole file
**    again and holds the args of all its rows until it is closed (held.h).
** 3. Rows of a database are found individually, in any order. Rows of other sources (row_source.h)
**    are read like rows of a document.
*/
#ifndef TRACEDIFF_ARGS_H
#define TRACEDIFF_ARGS_H

#include "held.h"

enum { ROWS_READERS = 8 /* databases kept open */ };

struct args_reader {
    const struct trace_file *file; /* borrowed: the open file */
    struct document *document;     /* NULL: no document is open */
    void *begun;                   /* an open reading of a source; NULL: none */
    struct document_options options;
    int64_t next;    /* position of the document's next event */
    int64_t checked; /* bytes of JSON known to be unchanged since loading */
    struct held held;
    struct rows_reader {
        struct trace_file *file; /* a part of the database, one reference; NULL: unused */
        void *reader;            /* the reader of its source */
    } rows[ROWS_READERS];
    size_t next_rows;                  /* the entry to replace next */
    const struct trace_file *row_file; /* borrowed; with `row`, the owner of `text` */
    size_t row;
    bool found; /* `text` is valid */
    bool there; /* the row has args */
    unsigned char *text;
    size_t length, capacity;
    size_t unasked; /* bytes from a source since the last call of the stopper */
};

/* Gives the args of a row of a loaded file as strict JSON (mend.h); `*text` is NULL without args.
** The text is valid until the next call; SCAN_PADDING zero bytes follow it. Mended or omitted args
** are counted in file->problems, once per event. False on failure: FAILURE_READ, FAILURE_MEMORY,
** FAILURE_INTERRUPTED. */
bool args_read(struct args_reader *reader, struct trace_file *file, size_t row,
               const struct stopper *stopper, const unsigned char **text, size_t *length,
               struct failure *failure);

/* Closes the file and zeroes the struct, so it can be used again. */
void args_close(struct args_reader *reader);

#endif
