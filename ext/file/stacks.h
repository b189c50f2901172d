/*
** Call stacks: the nesting of events on a thread, and their self time (T5).
**
** 1. An event holds the times from its start to its end, exclusive. An event without a duration, or
**    with a duration of zero, holds none.
** 2. The inner one of two events on a thread has the later start; ties: shorter duration, then
**    later in the file.
** 3. The parent of an event is the innermost outer event that holds its start. So an event that
**    ends after its parent is still its child.
** 4. Each instant counts as self time of the innermost event that holds it. So the self times of a
**    thread add up to its busy time, however its events overlap.
** 5. Events of category Trace, and events without a start, take no part.
*/
#ifndef TRACEDIFF_STACKS_H
#define TRACEDIFF_STACKS_H

#include "file.h"

/* Fills in file->stacks, unless already done. */
bool stacks_find(struct trace_file *file, const struct stopper *stopper, struct failure *failure);

/* Finds the outermost operator of each row: among the event and its ancestors, the outermost host
** event that is not a call and whose name is `wanted` (by name id). Returns rows, or ROW_NONE, in
** an array that the caller frees. Needs the file's stacks. NULL on failure. */
uint32_t *stacks_outermost(const struct trace_file *file, const bool *wanted,
                           const struct stopper *stopper, struct failure *failure);

/* The memory of file->stacks, in bytes. */
size_t stacks_memory(const struct trace_file *file);

void stacks_clear(struct stacks *stacks);

#endif
