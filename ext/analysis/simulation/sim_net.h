/*
** A graph made small, to simulate many changes one after the other: points that only follow one
** other are joined with it, and what no chosen step depends on is left out. Of a simulation, only
** what follows a change is computed.
*/
#ifndef TRACEDIFF_SIM_NET_H
#define TRACEDIFF_SIM_NET_H

#include "sim_steps.h"

enum { SIM_LANES = 8 }; /* simulations that one pass makes, at most */

/* The lag of an edge is so much longer (ns). */
struct sim_shift {
    struct sim_use use;
    int64_t longer;
};

struct sim_net {
    const struct sim_steps *steps;
    /* By node of the graph: the joint it is part of; SIM_NONE: no chosen step depends on it. */
    uint32_t *joint;
    uint32_t *place; /* by edge of the graph: its edge here, or none (SIM_NONE) */
    size_t joints, edges;
    uint32_t *first, *from; /* by joint and by edge, as in the graph */
    uint32_t *last;         /* by joint: the last one that depends on it */
    int64_t *slack;
    /* By edge, then by joint, for the edges within it: the first shift there, or SIM_NONE, as
    ** between passes. */
    uint32_t *shifts;
    uint32_t *next; /* by shift: the next one there, or SIM_NONE */
    size_t next_capacity;
    bool *shifted;  /* by joint: it, or an edge to it, has a shift; false between passes */
    int64_t *later; /* by joint, then by lane: 0 between passes */
    int64_t *marks; /* by mark of a step: how much later its node is */
};

bool sim_net_make(struct sim_net *net, const struct sim_steps *steps, const struct stopper *stopper,
                  struct failure *failure);

struct sim_pass;

/* Looks at the times of a pass, whose lengths of steps have been found. */
typedef void sim_pass_seen(void *argument, const struct sim_net *net, const struct sim_pass *pass,
                           const wide_time *lengths);

/* Shifts, and of which of the simulations of a pass each one is. */
struct sim_pass {
    const struct sim_shift *shifts;
    const unsigned char *of; /* by shift: a bit for each lane */
    size_t count;
    int lanes;
    sim_pass_seen *seen; /* NULL: nobody looks */
    void *argument;
};

/* Simulates each lane of a pass. Finds the lengths of all steps (ns), by lane, then by step; those
** after the last chosen one do not count. */
bool sim_net_run(struct sim_net *net, const struct sim_pass *pass, wide_time *lengths,
                 const struct stopper *stopper, struct failure *failure);

/* For `seen`: by how much a node that is the mark of a step is later in a lane. */
int64_t sim_net_later(const struct sim_net *net, const struct sim_pass *pass, int lane,
                      uint32_t node);

/* For `seen`: the edge that binds a node that a chosen step depends on, of several the first, or
** SIM_NONE; `*longer` is how much longer its lag is. */
uint32_t sim_net_binding(const struct sim_net *net, const struct sim_pass *pass, int lane,
                         uint32_t node, int64_t *longer);

void sim_net_clear(struct sim_net *net);

#endif
