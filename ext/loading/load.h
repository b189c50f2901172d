/*
** Reads a trace file into columns and derives everything that is always needed.
*/
#ifndef TRACEDIFF_LOAD_H
#define TRACEDIFF_LOAD_H

#include "file/file.h"

struct load_options {
    /* By phase letter, the events that become rows besides X and B; NULL: none. */
    const bool *phases;
    /* Read files that are not JSON documents, which are looked at in this order; NULL-terminated.
    ** NULL: such files are not traces. */
    const struct row_source *const *sources;
    const size_t *parts; /* of a database, which are loaded; NULL: the first */
    size_t part_count;
    const struct trace_file *head; /* the same database, if it was looked at before; or NULL */
    bool look;                     /* at a database only, whose parts are not known yet */
    /* A thread of its own decompresses if one of these processors can be taken (ahead.h); NULL:
    ** without. */
    atomic_int *idle;
    struct memo **kept; /* as in struct document_options */
};

/* Reads a whole file. A damaged file is not a failure; its outcome records the damage. The result
** has one reference; NULL on failure (FAILURE_READ, FAILURE_MEMORY, FAILURE_INTERRUPTED). */
struct trace_file *file_load(const char *path, const struct load_options *options,
                             const struct stopper *stopper, struct failure *failure);

/* The same for options->parts, in one reading: a file for each, in `files`. */
bool parts_load(const char *path, const struct load_options *options, struct trace_file **files,
                const struct stopper *stopper, struct failure *failure);

/* Reads what tells the rank of a file, or that it is not a trace: a document up to its first event
** or, if that does not tell, whole; the parts of a database. */
struct trace_file *file_peek(const char *path, const struct load_options *options,
                             const struct stopper *stopper, struct failure *failure);

#endif
