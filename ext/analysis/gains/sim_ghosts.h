/*
** Ghosts: device work that only control has, added to the graph of test so that a simulation can
** restore it (E9.3). Until then, a ghost changes no time.
*/
#ifndef TRACEDIFF_SIM_GHOSTS_H
#define TRACEDIFF_SIM_GHOSTS_H

#include "analysis/simulation/sim_net.h"

/* All nodes except `end` are nodes of the graph before sim_ghosts_add(). */
struct sim_ghost {
    uint32_t after;         /* node after which the ghost is inserted */
    uint32_t before;        /* end of the previous work on its stream; SIM_NONE: none */
    uint32_t chain;         /* index of the ghost between `before` and this one; SIM_NONE */
    uint32_t launch;        /* host point before its launch, or SIM_NONE */
    int64_t lag;            /* ns from `launch` to its begin */
    int64_t gap, dur;       /* ns */
    struct sim_shift on[3]; /* shifts that restore it; set by sim_ghosts_add() */
    int on_count;
    uint32_t end; /* node of its end; set by sim_ghosts_add() */
};

/* A node that waits for a ghost, once the ghost is restored. */
struct sim_ghost_link {
    uint32_t node, ghost;
    int64_t slack;       /* ns, >= 0, while the ghost has no duration */
    struct sim_shift on; /* shift that makes the node wait; set by sim_ghosts_add() */
};

/* A dependency between threads that control shows and test lacks (E9.6). */
struct sim_shared {
    uint32_t from, node;
    int64_t slack; /* ns, >= 0 */
};

/* Additions to a graph. */
struct sim_additions {
    struct sim_ghost *ghosts; /* ascending by `after` */
    size_t ghost_count;
    struct sim_ghost_link *links; /* ascending by node, like `shared` */
    size_t link_count;
    const struct sim_shared *shared;
    size_t shared_count;
};

/* Adds ghosts, links and shared dependencies to a graph, whose nodes and edges get new numbers. */
bool sim_ghosts_add(struct sim_graph *graph, const struct sim_additions *additions,
                    const struct stopper *stopper, struct failure *failure);

/* True if a shift makes an edge of a ghost hold. Such a shift cannot be halved. */
static inline bool sim_shift_holds(const struct sim_shift *shift)
{
    return shift->longer > SIM_LONGEST / 2;
}

#endif
