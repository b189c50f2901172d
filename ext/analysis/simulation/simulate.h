/*
** One simulation: the times of all nodes of a graph when lags are other than recorded: a model
** (E10).
*/
#ifndef TRACEDIFF_SIMULATE_H
#define TRACEDIFF_SIMULATE_H

#include "sim_graph.h"

#define SIM_FURTHEST \
    (2 * SIM_LONGEST) /* ns: within this, the sum of a time, a lag and a change does not overflow */

/* The failure of a simulation in which a node is later by SIM_FURTHEST. */
bool simulate_too_far(struct failure *failure);

/* Finds by how much each node is later (ns) if the lags of edges are so much longer, by edge; NULL:
** as recorded. */
bool simulate(const struct sim_graph *graph, const int64_t *longer, int64_t *later,
              const struct stopper *stopper, struct failure *failure);

/* E1: checks that the lags of the recording give the recorded times. `later` has room for all
** nodes. */
bool simulate_check(const struct sim_graph *graph, int64_t *later, const struct stopper *stopper,
                    struct failure *failure);

#endif
