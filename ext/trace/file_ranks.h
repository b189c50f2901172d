/*
** The ranks of the files of a trace (T7).
*/
#ifndef TRACEDIFF_FILE_RANKS_H
#define TRACEDIFF_FILE_RANKS_H

#include "trace.h"

/* Gives each file its rank, by what is known of them so far, and marks those that have to be
** loaded to know more (`unclear`). */
bool file_ranks_find(struct trace *trace, const struct stopper *stopper, struct failure *failure);

/* The coordinates that the label of a file tells, or else its name (T7.7). */
struct coordinates member_coordinates(const struct trace_member *member);

#endif
