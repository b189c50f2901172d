/*
** Replays of graphs whose kernels were not recorded.
*/
#ifndef TRACEDIFF_REPLAYS_H
#define TRACEDIFF_REPLAYS_H

#include "../trace/file.h"
#include "intervals.h"

/* Finds the intervals in which such replays may have run: ns, sorted and without overlap.
** 1. A graph launch is a call (T10) whose name contains `GraphLaunch`.
** 2. Its kernels were not recorded if no device work is linked to it or to another graph launch
**    with its correlation. (The driver's graph launch is inside the runtime's.)
** 3. It may have run from the end of the graph launch to the start of the first device work
**    (busy.h) whose launch starts after the graph launch; without such work, without end. */
bool replays_find(struct intervals *lost, const struct trace_file *file,
                  const struct stopper *stopper, struct failure *failure);

#endif
