/*
** Reads a trace file into columns and derives everything that is always needed.
*/
#ifndef TRACEDIFF_LOAD_H
#define TRACEDIFF_LOAD_H

#include "file.h"

/* Reads a whole file, with a thread of its own for decompressing if one of the `idle` processors
** can be taken (ahead.h); NULL: without. `phases` selects, by phase letter, the events that become
** rows besides X and B; NULL: none. A damaged file is not a failure; its outcome records the
** damage. The result has one reference; NULL on failure (FAILURE_READ, FAILURE_MEMORY,
** FAILURE_INTERRUPTED). */
struct trace_file *file_load(const char *path, const bool *phases, atomic_int *idle,
                             const struct stopper *stopper, struct failure *failure);

/* Reads a file up to its first event. `rank_known` says whether that was enough to know its
** rank, or to know that it is not a trace. */
struct trace_file *file_peek(const char *path, const struct stopper *stopper,
                             struct failure *failure);

#endif
