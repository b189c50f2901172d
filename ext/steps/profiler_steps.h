#ifndef TRACEDIFF_PROFILER_STEPS_H
#define TRACEDIFF_PROFILER_STEPS_H

#include "file/spans.h"

/* Fills file->profiler_steps and file->known_steps, and completes the annotations (annotations.h).
** The links and annotations of the file must already be known.
** 1. A step of the profiler is a host event named exactly `ProfilerStep#N` or `ProfilerStep #N`, or
**    an XLA event with `step_num` in its args.
** 2. A host event is in the step whose [start, end) holds its start. With several such steps, the
**    latest start wins; ties: later in the file.
** 3. Device work and syncs are in the iteration of their launch.
** 4. A gpu_user_annotation named like a step of the profiler is in the iteration that it names. All
**    others are in the step that holds the start of the event that places them (annotations.h).
** 5. known_steps are the steps of annotation_steps.h with known names, if they outnumber the
**    profiler's. */
bool steps_find(struct trace_file *file, const struct stopper *stopper, struct failure *failure);

#endif
