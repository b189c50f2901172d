/*
** Steps, and the step of each event (T11, T20 to T23).
*/
#ifndef TRACEDIFF_STEPS_H
#define TRACEDIFF_STEPS_H

#include "file/spans.h"

/* Returns the default steps of a file (T20). */
static inline const struct steps *steps_of_file(const struct trace_file *file)
{
    return file->known_steps ? file->known_steps : &file->profiler_steps;
}

/* Fills `first` and `of` of steps whose items and iterations are set. `number` holds, by name id,
** the step that a device annotation names, or NUMBER_NONE; NULL if none names one
** (profiler_steps.h, rule 4). */
bool steps_place(struct steps *steps, struct trace_file *file, const int64_t *number,
                 const struct stopper *stopper, struct failure *failure);

/* Returns the index of a step's number, or STEP_NONE. */
uint32_t steps_iteration(const struct steps *steps, int64_t number);

/* Returns N if a row is named like step N of the profiler, else NUMBER_NONE. `number`: by name
** id. */
static inline int64_t step_number_of_row(const struct trace_file *file, const int64_t *number,
                                         size_t row)
{
    uint32_t name = file->columns.name[row];
    return number && name != NAME_NONE ? number[name] : NUMBER_NONE;
}

/* Finds the step at each instant (profiler_steps.h, rule 2). Rows of the line are indices into
** `iterations`, or STEP_NONE. The line begins before all events; the caller owns it. */
bool steps_line(const struct steps *steps, struct span_line *line, const struct stopper *stopper,
                struct failure *failure);

#endif
