#ifndef TRACEDIFF_PROFILER_STEPS_H
#define TRACEDIFF_PROFILER_STEPS_H

#include "file/spans.h"

/* Fills file->profiler_steps and file->known_steps, and completes the annotations (annotations.h).
** The links and annotations of the file must be known.
** 1. A step of the profiler is a host event named exactly `ProfilerStep#N` or `ProfilerStep #N`, or
**    one of XLA whose args have `step_num`.
** 2. A host event is in the step whose [start, end) holds its start. Among several, in the step
**    with the latest start; ties: later in the file.
** 3. Device work and syncs are in the iteration of their launch.
** 4. A gpu_user_annotation named like a step of the profiler is in the iteration it names. Any
**    other is in the step that holds the start of the event that places it (annotations.h).
** 5. Known steps are those of annotation_steps.h by known names, if they are more. */
bool steps_find(struct trace_file *file, const struct stopper *stopper, struct failure *failure);

#endif
