/*
** Ghosts: device work that a trace does not have, put into its graph so that simulations can put it
** back (E9). As long as nothing does, a ghost changes no time.
*/
#ifndef TRACEDIFF_SIM_GHOSTS_H
#define TRACEDIFF_SIM_GHOSTS_H

#include "analysis/simulation/sim_net.h"

/* Nodes are those of the graph before it is extended, but for `end`. */
struct sim_ghost {
    uint32_t after;         /* it is put after this node */
    uint32_t before;        /* the end of the work before it on its stream, or SIM_NONE: none */
    uint32_t chain;         /* the index of a ghost between both, or SIM_NONE */
    uint32_t launch;        /* a point of the host before its launch, or SIM_NONE */
    int64_t lag;            /* ns from there to its begin */
    int64_t gap, dur;       /* ns */
    struct sim_shift on[3]; /* makes it take place, once the graph is extended */
    int on_count;
    uint32_t end; /* the node of its end, once the graph is extended */
};

/* What depends on a ghost: an edge to a node. */
struct sim_ghost_link {
    uint32_t node, ghost;
    int64_t slack;       /* ns, as far as the ghost takes no time: 0 or more */
    struct sim_shift on; /* makes it depend, once the graph is extended */
};

/* A dependency between threads that another trace of the program shows (E8). */
struct sim_shared {
    uint32_t from, node;
    int64_t slack; /* ns, 0 or more */
};

/* What is added to a graph. */
struct sim_additions {
    struct sim_ghost *ghosts; /* by `after` */
    size_t ghost_count;
    struct sim_ghost_link *links; /* by node, like the next one */
    size_t link_count;
    const struct sim_shared *shared;
    size_t shared_count;
};

/* Adds all that to a graph. Numbers of nodes and edges change. */
bool sim_ghosts_add(struct sim_graph *graph, const struct sim_additions *additions,
                    const struct stopper *stopper, struct failure *failure);

/* Whether a shift makes a dependency on or of a ghost hold, which has no half. */
static inline bool sim_shift_holds(const struct sim_shift *shift)
{
    return shift->longer > SIM_LONGEST / 2;
}

#endif
