/*
** The begins and ends of a job's steps in a simulation, for its reference rank (A2).
*/
#ifndef TRACEDIFF_SIM_STEPS_H
#define TRACEDIFF_SIM_STEPS_H

#include "sim_graph.h"

struct sim_step {
    size_t member;
    struct window window; /* as recorded */
    struct window host;   /* the host's step; equal to `window` outside a sample */
    size_t stretch;       /* index of its stretch */
    bool chosen;
};

/* The meaning of a node for a step. */
enum sim_mark_kind {
    MARK_START,  /* the host's step begins */
    MARK_END,    /* the host's step ends */
    MARK_WORK,   /* device work of the step ends */
    MARK_BACKLOG /* work of the backlog ends (A2.2) */
};

struct sim_mark {
    uint32_t node, step;
    enum sim_mark_kind kind;
};

/* The steps of a member. */
struct sim_stretch {
    size_t first, count;
    bool none;   /* file without steps: one window (A2.5) */
    bool device; /* by the device's clock */
    bool whole;  /* a single step with all its work (A2.3) */
    int64_t last; /* file without steps: the latest end of a node, ns */
};

struct sim_steps {
    const struct sim_graph *graph;
    struct sim_step *items; /* by member, then by start; owned, like the other arrays */
    size_t count, capacity;
    struct sim_mark *marks;
    size_t mark_count, mark_capacity;
    struct sim_stretch *stretches;
    size_t stretch_count;
    size_t **numbers; /* by member, then iteration: step index or SIZE_MAX; may be NULL */
    size_t members;
    size_t chosen; /* number of chosen steps */
    struct sim_bounds *bounds; /* private: by step */
};

/* Makes the steps; `choice` has the chosen ones. Leaves nothing to clear on failure. */
bool sim_steps_make(struct sim_steps *steps, const struct sim_graph *graph,
                    const struct step_choice *choice, const struct stopper *stopper,
                    struct failure *failure);

/* Adds a node, the end of device work, to a step of a member, given by its index in the member.
** Ignores ranks other than the reference. */
bool sim_steps_add(struct sim_steps *steps, uint32_t node, size_t member, uint32_t step,
                   struct failure *failure);

/* Finds the lengths of all steps (ns), with the node of each mark `later` by some ns; NULL: as
** recorded. `lengths` has room for all steps. */
void sim_steps_find(const struct sim_steps *steps, const int64_t *later, wide_time *lengths);

/* True if a step lasts until both the host and the device are done (A2.3, A2.4). */
bool sim_steps_whole(const struct sim_steps *steps, size_t step);

/* Returns the sum of the chosen steps' lengths, ns. */
wide_time sim_steps_sum(const struct sim_steps *steps, const wide_time *lengths);

void sim_steps_clear(struct sim_steps *steps);

#endif
