/*
** The args of rows of databases, made anew from the rows (G10).
*/
#ifndef TRACEDIFF_DATABASE_ARGS_H
#define TRACEDIFF_DATABASE_ARGS_H

#include "profiler.h"

enum { BETWEEN = 64 /* rows of a table between two whose rowids are kept */ };

/* What is kept of a database: where its rows are. */
struct row_origin {
    const struct profiler *profiler;
    void *state;
    struct kept_table {
        int64_t event;     /* number of its first event */
        size_t checkpoint; /* index of the first of its rowids */
    } tables[EVENT_TABLES];
    size_t table_count;
    int64_t *rowids; /* of every row in BETWEEN */
    size_t rowid_count, rowid_capacity;
};

/* As in struct row_source. */
bool database_args(void **reader, const struct trace_file *file, size_t row,
                   const struct stopper *stopper, const unsigned char **text, size_t *length,
                   struct failure *failure);

void database_args_close(void *reader);

#endif
