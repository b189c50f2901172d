/*
** Call stacks: which event of a thread encloses which, and how much of its time is its own (T5).
**
** 1. An event holds the instants from its start up to its end, the end excluded. An event with
**    no duration, or a duration of zero, holds none.
** 2. Of two events of a thread the inner one is the one with the later start; ties: shorter
**    duration, then later in the file.
** 3. The parent of an event is the innermost of the outer events that hold its start. So an
**    event that ends after its parent is still its child.
** 4. An instant is the own time of the innermost event that holds it. So the own times of a
**    thread sum to its busy time, however its events overlap.
** 5. Events of category Trace, and events without a start, take no part.
*/
#ifndef TRACEDIFF_STACKS_H
#define TRACEDIFF_STACKS_H

#include "file.h"

/* Fills in file->stacks, unless that has been done already. */
bool stacks_find(struct trace_file *file, const struct stopper *stopper, struct failure *failure);

/* The outermost operator of each row: of the event and those around it, the outermost event of the
** host that is no call and whose name is `wanted`, by name id. Rows, or ROW_NONE; the caller frees
** them. Needs the file's stacks. NULL on failure. */
uint32_t *stacks_outermost(const struct trace_file *file, const bool *wanted,
                           const struct stopper *stopper, struct failure *failure);

/* The memory that file->stacks holds, in bytes. */
size_t stacks_memory(const struct trace_file *file);

void stacks_clear(struct stacks *stacks);

#endif
