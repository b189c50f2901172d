/*
** The steps of the files of a trace. Files of one rank are cycles of one run (T8).
*/
#ifndef TRACEDIFF_CYCLES_H
#define TRACEDIFF_CYCLES_H

#include "trace.h"

/* Gives each chosen file the steps that were asked for, and their numbers (T20, T21). For
** TRACE_CYCLES, a pattern that no event matches and files of a rank that are not cycles of one run
** are a FAILURE_SAME_RANK; for other uses such files are only marked. */
bool cycles_make(struct trace *trace, const struct trace_request *request,
                 const struct stopper *stopper, struct failure *failure);

/* Frees the steps of a member. */
void cycle_clear(struct trace_member *member);

#endif
