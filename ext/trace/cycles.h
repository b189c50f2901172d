/*
** The steps of the files of a trace. Files of one rank are cycles of one run (T8).
*/
#ifndef TRACEDIFF_CYCLES_H
#define TRACEDIFF_CYCLES_H

#include "trace.h"

/* Gives each chosen file its requested steps and their numbers (T20, T21). With TRACE_CYCLES, it is
** a FAILURE_SAME_RANK if no event matches a pattern, or if files of a rank are not cycles of one
** run; otherwise such files are only marked. */
bool cycles_make(struct trace *trace, const struct trace_request *request,
                 const struct stopper *stopper, struct failure *failure);

/* Frees the steps of a member. */
void cycle_clear(struct trace_member *member);

#endif
