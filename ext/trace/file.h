/*
** One trace file in memory: from its events to columns, with everything derived.
*/
#ifndef TRACEDIFF_FILE_H
#define TRACEDIFF_FILE_H

#include "columns.h"
#include "sort.h"

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

/* Gives up a reference; frees the file with the last one. NULL is allowed. */
void file_release(struct trace_file *file);

/* Frees all of a file but its texts; it then counts as not loaded. */
void file_shrink(struct trace_file *file);

/* Bytes of memory it holds. */
size_t file_memory(const struct trace_file *file);

#endif
