/*
** Links calls to the device work that they launch (T10). flows.h links operators to it.
*/
#ifndef TRACEDIFF_LINK_H
#define TRACEDIFF_LINK_H

#include "file/file.h"
#include "base/sort.h"

/* Fills columns.link. The kinds of the file must be known.
** 1. The link of a device event is the call with its correlation (> 0). Among several calls, those
**    of cuda_driver and cann_runtime come last; then the call with the latest start not after the
**    event's own start, else with the earliest start; ties: later in the file.
** 2. The link of a call is the first device event linked to it; ties: earlier start, then earlier
**    in the file. */
bool links_find(struct trace_file *file, const struct stopper *stopper, struct failure *failure);

/* Links a device event to its launch, and the launch to the first event of it by rule 2. The events
** of a launch must come in the order of the file. */
void link_rows(struct columns *columns, uint32_t row, uint32_t launch);

/* Where the backlog of each track ends: the start (ns) of its first device work with a link;
** INT64_MIN without such work. NULL on failure. */
int64_t *links_first(const struct trace_file *file, const struct stopper *stopper,
                     struct failure *failure);

/* Whether a row is backlog (T10); `first` comes from links_first(). */
static inline bool link_is_backlog(const struct columns *columns, const int64_t *first, size_t row)
{
    return columns->kind[row] == KIND_WORK && columns->link[row] == ROW_NONE &&
           columns->ts[row] != NUMBER_NONE &&
           columns->ts[row] < first[row_place(columns, row)->track];
}

/* Whether a file has backlog. */
static inline bool links_have_backlog(const struct trace_file *file)
{
    return file->problems.count[PROBLEM_BACKLOG] > 0;
}

/* Counts device work without a link, which belongs to no step, among the problems of a file,
** with its total time in ns. Backlog is counted apart from the rest. */
bool links_count_missing(struct trace_file *file, const struct stopper *stopper,
                         struct failure *failure);

#endif
