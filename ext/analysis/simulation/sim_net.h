/*
** A reduced graph for simulating many changes. Chains of nodes with one dependency and one
** dependent become one joint, and nodes that no chosen step depends on are omitted. A simulation
** computes only joints after a change.
*/
#ifndef TRACEDIFF_SIM_NET_H
#define TRACEDIFF_SIM_NET_H

#include "sim_steps.h"

enum { SIM_LANES = 8 }; /* maximum number of simulations per pass */

/* A change of an edge's lag: `longer` is in ns, and negative if the lag gets shorter. */
struct sim_shift {
    struct sim_use use;
    int64_t longer;
};

struct sim_net {
    const struct sim_steps *steps;
    /* By node of the graph: its joint; SIM_NONE: no chosen step depends on the node. */
    uint32_t *joint;
    uint32_t *place; /* by edge of the graph: its edge here, or SIM_NONE within a joint */
    size_t joints, edges;
    uint32_t *first, *from; /* by joint and by edge, like in the graph */
    uint32_t *last;         /* by joint: the last joint that depends on it */
    int64_t *slack;
    /* Heads of lists of shifts, SIM_NONE if empty: by edge, then by joint for the edges within it.
    ** All are empty between passes. */
    uint32_t *shifts;
    uint32_t *next; /* by shift: the next in its list, or SIM_NONE */
    size_t next_capacity;
    bool *shifted;  /* by joint: it has shifts; false between passes */
    int64_t *later; /* ns by joint, then by lane; 0 between passes */
    int64_t *marks; /* by mark: ns that its node is later */
};

bool sim_net_make(struct sim_net *net, const struct sim_steps *steps, const struct stopper *stopper,
                  struct failure *failure);

struct sim_pass;

/* Reads the times of a pass after the lengths of its steps are known. */
typedef void sim_pass_seen(void *argument, const struct sim_net *net, const struct sim_pass *pass,
                           const wide_time *lengths);

/* One simulation per lane, each with some of the shifts. */
struct sim_pass {
    const struct sim_shift *shifts;
    const unsigned char *of; /* by shift: bit mask of its lanes */
    size_t count;
    int lanes;
    sim_pass_seen *seen; /* may be NULL */
    void *argument;
};

/* Simulates the lanes of a pass. Finds the lengths of all steps (ns), by lane, then by step.
** Lengths after the last chosen step are meaningless. */
bool sim_net_run(struct sim_net *net, const struct sim_pass *pass, wide_time *lengths,
                 const struct stopper *stopper, struct failure *failure);

/* Only in `seen`: returns how much later the node of a mark is in a lane, ns. */
int64_t sim_net_later(const struct sim_net *net, const struct sim_pass *pass, int lane,
                      uint32_t node);

/* Only in `seen`: returns the edge that binds a node in a lane, the first if several do, or
** SIM_NONE. A chosen step must depend on the node. `*longer` is the sum of the edge's shifts,
** ns. */
uint32_t sim_net_binding(const struct sim_net *net, const struct sim_pass *pass, int lane,
                         uint32_t node, int64_t *longer);

void sim_net_clear(struct sim_net *net);

#endif
