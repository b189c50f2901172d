/*
** The args of events, read from the file again each time: they are most of a trace,
** and few queries want them (T6). What is asked for in the order of the file is found
** in one reading.
*/
#ifndef TRACEDIFF_ARGS_H
#define TRACEDIFF_ARGS_H

#include "file.h"
#include "sort.h"

struct args_reader {
    const struct trace_file *file; /* borrowed */
    struct document *document;     /* NULL: none is open */
    struct document_options options;
    int64_t next;    /* position of the event it gives next */
    int64_t checked; /* bytes of JSON that are of the file that was loaded */
    size_t row;      /* whose args `text` is */
    bool found;      /* `text` is valid */
    bool there;      /* there are args to give */
    unsigned char *text;
    size_t length, capacity;
};

/* The args of a row of a loaded file, as mend.h says; `*text` is NULL if there are
** none. They are good until the next call. What is mended or cannot be is counted in
** file->problems, each event once. False on failure: FAILURE_READ, FAILURE_MEMORY,
** FAILURE_INTERRUPTED. */
bool args_read(struct args_reader *reader, struct trace_file *file, size_t row,
               const struct stopper *stopper, const unsigned char **text, size_t *length,
               struct failure *failure);

/* Closes the file. A zeroed struct reads from it again. */
void args_close(struct args_reader *reader);

#endif
