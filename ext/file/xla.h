/*
** What XLA says in the args of an event: of device work the operator and the module of HLO that it
** is of (A17), and of an annotation of the host that it is a step (T11).
*/
#ifndef TRACEDIFF_XLA_H
#define TRACEDIFF_XLA_H

#include "file.h"

/* Keeps what is said of the last row, if that is anything. Ids of names, or NAME_NONE; `step` may
** be NUMBER_NONE. */
bool xla_add(struct trace_file *file, uint32_t op, uint32_t module, int64_t step,
             struct failure *failure);

/* Goes through what is said, for rows that ascend. `*next` is 0 at first. NULL: nothing is. */
static inline const struct xla_said *xla_of_row(const struct trace_file *file, size_t row,
                                                size_t *next)
{
    while (*next < file->xla_count && file->xla[*next].row < row)
        ++*next;
    return *next < file->xla_count && file->xla[*next].row == row ? &file->xla[*next] : NULL;
}

#endif
