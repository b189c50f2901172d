/*
** The ranks of the files of a trace (T7).
*/
#ifndef TRACEDIFF_FILE_RANKS_H
#define TRACEDIFF_FILE_RANKS_H

#include "trace.h"

/* Gives files their ranks from the known facts, and marks files that must be loaded (`unclear`). */
bool file_ranks_find(struct trace *trace, const struct stopper *stopper, struct failure *failure);

/* The coordinates from the label of a file, or else from its name (T7.7). */
struct coordinates member_coordinates(const struct trace_member *member);

#endif
