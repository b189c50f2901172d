/*
** Data from the args of XLA's events: HLO operator and module of device work (A17), and whether a
** host annotation is a step (T11).
*/
#ifndef TRACEDIFF_XLA_H
#define TRACEDIFF_XLA_H

#include "file.h"

/* Keeps data for the last row, if any: ids of names or NAME_NONE; `step` may be NUMBER_NONE. */
bool xla_add(struct trace_file *file, uint32_t op, uint32_t module, int64_t step,
             struct failure *failure);

/* Looks up the data of rows in ascending order. `*next` is initially 0. NULL without data. */
static inline const struct xla_said *xla_of_row(const struct trace_file *file, size_t row,
                                                size_t *next)
{
    while (*next < file->xla_count && file->xla[*next].row < row)
        ++*next;
    return *next < file->xla_count && file->xla[*next].row == row ? &file->xla[*next] : NULL;
}

#endif
