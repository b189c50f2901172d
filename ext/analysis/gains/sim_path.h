/*
** The path of a step in a simulation: from its end back along the binding dependencies (E1.3).
*/
#ifndef TRACEDIFF_SIM_PATH_H
#define TRACEDIFF_SIM_PATH_H

#include "analysis/simulation/sim_net.h"

/* Receives a stretch of a path: `time` ns of the lag of an edge. */
typedef void sim_path_add(void *argument, struct sim_use use, wide_time time);

/* Finds the nodes at which the chosen steps end in the recording, by step; SIM_NONE if there is
** none. Returns NULL on failure. The caller frees it. */
uint32_t *sim_path_ends(const struct sim_steps *steps, struct failure *failure);

/* Follows the recorded path of a step back from `node`, its end. Returns the time (ns) on no
** edge. */
wide_time sim_path_find(const struct sim_steps *steps, size_t step, uint32_t node,
                        sim_path_add *add, void *argument);

/* The last marks of a step in a lane: of the host, and of device work. */
struct sim_path_end {
    uint32_t node[2]; /* SIM_NONE: none */
    wide_time at[2];
};

/* Follows the paths of the chosen steps in a lane. Call it during a pass (sim_pass_seen), while the
** net has its times. `lengths` has the steps' lengths in this lane, ns; `ends` has room for all
** steps. */
void sim_path_follow(const struct sim_net *net, const struct sim_pass *pass, int lane,
                     const wide_time *lengths, struct sim_path_end *ends, sim_path_add *add,
                     void *argument);

/* Marks the edges that bind on the way to the end of any step, by edge. */
bool sim_path_mark(const struct sim_steps *steps, bool *marked, const struct stopper *stopper,
                   struct failure *failure);

#endif
