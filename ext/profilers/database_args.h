/*
** Rebuilds the args of database rows from the rows themselves (G10).
*/
#ifndef TRACEDIFF_DATABASE_ARGS_H
#define TRACEDIFF_DATABASE_ARGS_H

#include "profiler.h"

enum { BETWEEN = 64 /* distance of rows with stored rowids */ };

/* The position of a database's rows, kept after reading. */
struct row_origin {
    const struct profiler *profiler;
    void *state;
    struct kept_table {
        int64_t event;     /* number of its first event */
        size_t checkpoint; /* index of its first stored rowid */
    } tables[EVENT_TABLES];
    size_t table_count;
    int64_t *rowids; /* of every BETWEEN-th row */
    size_t rowid_count, rowid_capacity;
};

/* See struct row_source. */
bool database_args(void **reader, const struct trace_file *file, size_t row,
                   const struct stopper *stopper, const unsigned char **text, size_t *length,
                   struct failure *failure);

void database_args_close(void *reader);

#endif
