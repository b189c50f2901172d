/*
** A graph made small, to simulate many changes one after the other: points that only follow one
** other are joined with it, and what no step depends on is left out. Of a simulation, only what
** follows a change is computed.
*/
#ifndef TRACEDIFF_SIM_NET_H
#define TRACEDIFF_SIM_NET_H

#include "sim_steps.h"

/* The lag of an edge is so much longer (ns). */
struct sim_shift {
    struct sim_use use;
    int64_t longer;
};

struct sim_net {
    const struct sim_steps *steps;
    /* By node of the graph: the joint that it is part of; SIM_NONE: no step depends on it. */
    uint32_t *joint;
    uint32_t *place; /* by edge of the graph: its edge here, or none (SIM_NONE) */
    size_t joints, edges;
    uint32_t *first, *from; /* by joint and by edge, as in the graph */
    uint32_t *last;         /* by joint: the last one that depends on it */
    int64_t *slack;
    int64_t *longer; /* by edge: 0 between simulations, like the next three */
    int64_t *own;    /* by joint: what the edges within it are longer */
    bool *shifted;   /* by joint: it, or an edge to it, has a shift */
    int64_t *later;  /* by joint */
    int64_t *marks;  /* by mark of a step: how much later its node is */
};

bool sim_net_make(struct sim_net *net, const struct sim_steps *steps, const struct stopper *stopper,
                  struct failure *failure);

/* Finds the lengths of all steps (ns) with some shifts, by node. */
bool sim_net_run(struct sim_net *net, const struct sim_shift *shifts, size_t count,
                 wide_time *lengths, const struct stopper *stopper, struct failure *failure);

void sim_net_clear(struct sim_net *net);

#endif
