/*
** The text about work that runs more or less often.
*/
#ifndef TRACEDIFF_WORK_WORDS_H
#define TRACEDIFF_WORK_WORDS_H

#include "analysis/counts/run_changes.h"
#include "chart/writer.h"

/* Writes `X 9 -> 18 per step`, `X new, 97 per step` or `X gone, 4 per step`; for whole traces, `per
** trace`. */
void write_change_of_runs(struct writer *text, const struct run_changes *changes,
                          const struct run_change *change, bool in_steps);

/* Writes `3 operators now run inside a CUDA graph (1 launch per step)`. */
void write_change_to_graphs(struct writer *text, const struct graph_change *change, bool in_steps);

#endif
