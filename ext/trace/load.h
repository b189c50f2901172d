/*
** Reading a trace file: from its events to columns, with everything derived.
*/
#ifndef TRACEDIFF_LOAD_H
#define TRACEDIFF_LOAD_H

#include "file.h"

/* Reads a file whole. `phases` says of each phase letter whether its events
** become rows, besides X and B; NULL: none. A broken file is no failure: its
** outcome says so. The result has one reference; NULL on failure (FAILURE_READ,
** FAILURE_MEMORY, FAILURE_INTERRUPTED). */
struct trace_file *file_load(const char *path, const bool *phases, const struct stopper *stopper,
                             struct failure *failure);

/* Reads a file up to its first event. `rank_known` says whether that was enough
** to know its rank, or that it is no trace. */
struct trace_file *file_peek(const char *path, const struct stopper *stopper,
                             struct failure *failure);

#endif
