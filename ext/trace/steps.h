/*
** Profiler steps, and which of them an event belongs to (T11).
*/
#ifndef TRACEDIFF_STEPS_H
#define TRACEDIFF_STEPS_H

#include "file.h"
#include "sort.h"

/* Fills steps, iterations and columns.iteration of a file whose links and annotations are
** known, and completes the annotations (annotations.h):
** 1. a step is a host event named exactly `ProfilerStep#N` or `ProfilerStep #N`
** 2. a host event is in the step whose [start, end) holds its start; of several
**    in the one that starts last, then in the one later in the file
** 3. device work and syncs are in the iteration of their launch
** 4. a gpu_user_annotation named as a step is in the iteration it names, any other in
**    the step that holds the start of the event it goes by (annotations.h) */
bool steps_find(struct trace_file *file, const struct stopper *stopper, struct failure *failure);

#endif
