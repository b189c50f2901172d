/*
** Which call launched which device work (T10).
*/
#ifndef TRACEDIFF_LINK_H
#define TRACEDIFF_LINK_H

#include "file.h"
#include "sort.h"

/* Fills columns.link of a file whose kinds are known:
** 1. a device event's link is the call with its correlation (> 0); of several:
**    not cuda_driver before cuda_driver, then the latest start not after its
**    own, else the earliest start; ties: later in the file
** 2. a call's link is the first device event linked to it: start, then file */
bool links_find(struct trace_file *file, const struct stopper *stopper, struct failure *failure);

/* Where the backlog of each track ends: the start (ns) of its first device work with a
** link; INT64_MIN if it has none. NULL on failure. */
int64_t *links_first(const struct trace_file *file, const struct stopper *stopper,
                     struct failure *failure);

/* Whether a row is backlog (T10), by what links_first() gives. */
static inline bool link_is_backlog(const struct columns *columns, const int64_t *first, size_t row)
{
    return columns->kind[row] == KIND_WORK && columns->link[row] == ROW_NONE &&
           columns->ts[row] != NUMBER_NONE && columns->ts[row] < first[columns->track[row]];
}

/* Counts device work without a link, which is in no step, among the problems of a file:
** backlog, and apart from it the rest, with their ns. */
bool links_count_missing(struct trace_file *file, const struct stopper *stopper,
                         struct failure *failure);

#endif
