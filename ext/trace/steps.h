/*
** Steps, and the step that each event belongs to (T11, T20 to T23).
*/
#ifndef TRACEDIFF_STEPS_H
#define TRACEDIFF_STEPS_H

#include "spans.h"

/* Fills file->profiler_steps and file->known_steps, and completes the annotations (annotations.h).
** The links and annotations of the file must be known.
** 1. A step of the profiler is a host event named exactly `ProfilerStep#N` or `ProfilerStep #N`.
** 2. A host event is in the step whose [start, end) holds its start. Among several, in the step
**    with the latest start; ties: later in the file.
** 3. Device work and syncs are in the iteration of their launch.
** 4. A gpu_user_annotation named like a step of the profiler is in the iteration it names. Any
**    other is in the step that holds the start of the event that places it (annotations.h).
** 5. Known steps are those of annotation_steps.h by known names, if they are more. */
bool steps_find(struct trace_file *file, const struct stopper *stopper, struct failure *failure);

/* The steps that a file has if nobody says which (T20). */
static inline const struct steps *steps_of_file(const struct trace_file *file)
{
    return file->known_steps ? file->known_steps : &file->profiler_steps;
}

/* Fills `first` and `of` of steps whose items and iterations are there. `number` gives, by name id, the
** step that an annotation of the device names, or NUMBER_NONE (rule 4); NULL: none names one. */
bool steps_place(struct steps *steps, struct trace_file *file, const int64_t *number,
                 const struct stopper *stopper, struct failure *failure);

/* Finds the step at each instant (rule 2): rows of the line are indices into `iterations`, or STEP_NONE.
** The line begins before all events; it is the caller's. */
bool steps_line(const struct steps *steps, struct span_line *line, const struct stopper *stopper,
                struct failure *failure);

/* The memory that steps hold, in bytes. */
size_t steps_memory(const struct trace_file *file, const struct steps *steps);

void steps_clear(struct steps *steps);

#endif
