/*
** One simulation: the times of all nodes after changes of lags. It is a model (E10).
*/
#ifndef TRACEDIFF_SIMULATE_H
#define TRACEDIFF_SIMULATE_H

#include "sim_graph.h"

#define SIM_FURTHEST \
    (2 * SIM_LONGEST) /* ns: up to this, adding a time, a lag and a change cannot overflow */

/* Sets the error for a simulation that moves a node by SIM_FURTHEST or more. Returns false. */
bool simulate_too_far(struct failure *failure);

/* Finds how much later each node is (ns) if each edge's lag is `longer` by some ns; NULL: no
** change. */
bool simulate(const struct sim_graph *graph, const int64_t *longer, int64_t *later,
              const struct stopper *stopper, struct failure *failure);

/* E1.3: checks that the recorded lags reproduce the recorded times. `later` has room for all
** nodes. */
bool simulate_check(const struct sim_graph *graph, int64_t *later, const struct stopper *stopper,
                    struct failure *failure);

#endif
