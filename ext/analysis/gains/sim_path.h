/*
** The path of a step in a simulation: from its end back along the dependencies that bind (E1.3).
*/
#ifndef TRACEDIFF_SIM_PATH_H
#define TRACEDIFF_SIM_PATH_H

#include "analysis/simulation/sim_net.h"

/* Takes a stretch of a path, which is the lag of an edge to a node or a part of it, ns. */
typedef void sim_path_add(void *argument, struct sim_use use, wide_time time);

/* Finds the nodes at which the chosen steps end as recorded, by step; SIM_NONE where none is.
** NULL on failure. */
uint32_t *sim_path_ends(const struct sim_steps *steps, struct failure *failure);

/* Finds the path of a step as recorded, from where it ends. Returns the time that is on no edge. */
wide_time sim_path_find(const struct sim_steps *steps, size_t step, uint32_t node,
                        sim_path_add *add, void *argument);

/* Where a step ends in a lane: the last mark of the host, and of device work. */
struct sim_path_end {
    uint32_t node[2]; /* SIM_NONE: none */
    wide_time at[2];
};

/* Adds the paths of the chosen steps in a lane of a pass through a net, while the times are there.
** `lengths` are those of the steps there; `ends` has room for all. */
void sim_path_follow(const struct sim_net *net, const struct sim_pass *pass, int lane,
                     const wide_time *lengths, struct sim_path_end *ends, sim_path_add *add,
                     void *argument);

/* Marks all edges, by edge, on which times of steps depend: those that bind. */
bool sim_path_mark(const struct sim_steps *steps, bool *marked, const struct stopper *stopper,
                   struct failure *failure);

#endif
