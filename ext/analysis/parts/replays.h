/*
** Replays of graphs whose kernels were not recorded.
*/
#ifndef TRACEDIFF_REPLAYS_H
#define TRACEDIFF_REPLAYS_H

#include "file/file.h"
#include "analysis/sums/intervals.h"

/* Finds the intervals in which such replays may have run (A4), in ns, sorted and without
** overlap. */
bool replays_find(struct intervals *lost, const struct trace_file *file,
                  const struct stopper *stopper, struct failure *failure);

#endif
