/*
** Reads a trace file into columns and derives everything that is always needed.
*/
#ifndef TRACEDIFF_LOAD_H
#define TRACEDIFF_LOAD_H

#include "file/file.h"

struct load_options {
    /* by phase letter: events that become rows besides X and B; NULL: none */
    const bool *phases;
    /* Readers for files that are not JSON documents, tried in this order; NULL-terminated. NULL:
    ** such files are not traces. */
    const struct row_source *const *sources;
    const size_t *parts; /* parts of a database to load; NULL: the first */
    size_t part_count;
    const struct trace_file *head; /* the same database from an earlier look; or NULL */
    bool look;                     /* only look at a database, to find its parts */
    /* A separate thread decompresses if one of these processors is free (ahead.h). NULL: only one
    ** thread is used. */
    atomic_int *idle;
    struct memo **kept; /* as in struct document_options */
};

/* Reads a whole file. A damaged file is not a failure; its outcome records the damage. The result
** has one reference; NULL on failure (FAILURE_READ, FAILURE_MEMORY, FAILURE_INTERRUPTED). */
struct trace_file *file_load(const char *path, const struct load_options *options,
                             const struct stopper *stopper, struct failure *failure);

/* Reads each of options->parts into a file of `files`, in one pass. */
bool parts_load(const char *path, const struct load_options *options, struct trace_file **files,
                const struct stopper *stopper, struct failure *failure);

/* Reads only enough to know the rank of a file, or that it is not a trace: a document up to its
** first event, or all of it if the rank is still unknown; the parts of a database. */
struct trace_file *file_peek(const char *path, const struct load_options *options,
                             const struct stopper *stopper, struct failure *failure);

#endif
