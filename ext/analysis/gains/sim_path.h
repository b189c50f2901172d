/*
** The path of a step in a simulation: from its end back along the dependencies that bind (E1.3).
*/
#ifndef TRACEDIFF_SIM_PATH_H
#define TRACEDIFF_SIM_PATH_H

#include "analysis/simulation/sim_net.h"

/* Takes a stretch of a path, which is the lag of an edge to a node or a part of it, ns. */
typedef void sim_path_add(void *argument, struct sim_use use, wide_time time);

/* Finds the path of a step as recorded. Returns the time that is on no edge. */
wide_time sim_path_find(const struct sim_steps *steps, size_t step, sim_path_add *add,
                        void *argument);

/* Adds the path of a step in a lane of a pass through a net, while the times are there. `length` is
** that of the step there. */
void sim_path_follow(const struct sim_net *net, const struct sim_pass *pass, int lane, size_t step,
                     wide_time length, sim_path_add *add, void *argument);

/* Marks all edges, by edge, on which times of steps depend: those that bind. */
bool sim_path_mark(const struct sim_steps *steps, bool *marked, const struct stopper *stopper,
                   struct failure *failure);

#endif
