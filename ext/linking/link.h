/*
** Links calls to the device work that they launch (T10). flows.h links operators to device work.
*/
#ifndef TRACEDIFF_LINK_H
#define TRACEDIFF_LINK_H

#include "file/file.h"
#include "base/sort.h"

/* Fills columns.link. The kinds of rows must already be known.
** 1. A device event links to the call with its correlation (> 0). With several such calls,
**    cuda_driver and cann_runtime come last; then the call with the latest start not after the
**    event's start wins; without any, the one with the earliest start. Ties: later in the file.
** 2. A call links to the first device event that is linked to it. Ties: earlier start, then earlier
**    in the file. */
bool links_find(struct trace_file *file, const struct stopper *stopper, struct failure *failure);

/* Links a device event to its launch, and the launch to its first device event by rule 2. Pass the
** device events of a launch in file order. */
void link_rows(struct columns *columns, uint32_t row, uint32_t launch);

/* Finds where the backlog of each track ends: at the start (ns) of its first linked device work, or
** at INT64_MIN if it has none. NULL on failure; the caller frees the array. */
int64_t *links_first(const struct trace_file *file, const struct stopper *stopper,
                     struct failure *failure);

/* Returns whether a row is backlog (T10). `first` comes from links_first(). */
static inline bool link_is_backlog(const struct columns *columns, const int64_t *first, size_t row)
{
    return columns->kind[row] == KIND_WORK && columns->link[row] == ROW_NONE &&
           columns->ts[row] != NUMBER_NONE &&
           columns->ts[row] < first[row_place(columns, row)->track];
}

static inline bool links_have_backlog(const struct trace_file *file)
{
    return file->problems.count[PROBLEM_BACKLOG] > 0;
}

/* Counts device work without a link, which belongs to no step, among the problems of a file, with
** its total time in ns. Backlog is counted separately. */
bool links_count_missing(struct trace_file *file, const struct stopper *stopper,
                         struct failure *failure);

#endif
