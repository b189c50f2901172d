/*
** Replays of graphs whose kernels were not recorded.
*/
#ifndef TRACEDIFF_REPLAYS_H
#define TRACEDIFF_REPLAYS_H

#include "../trace/file.h"
#include "intervals.h"

/* When such replays ran, at the most: ns, in order and apart.
** 1. A graph launch is a call (T10) whose name contains `GraphLaunch`.
** 2. Its kernels were not recorded if no device work is linked to it, nor to another
**    graph launch of its correlation (that of the driver, inside that of the runtime).
** 3. It may have run from the end of the graph launch to the start of the first device
**    work (busy.h) whose launch starts after the graph launch; for ever, if there is none.
*/
bool replays_find(struct intervals *lost, const struct trace_file *file,
                  const struct stopper *stopper, struct failure *failure);

#endif
