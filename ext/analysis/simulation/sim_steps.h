/*
** The steps of the reference of a job (A2) in a simulation: when they begin and end.
*/
#ifndef TRACEDIFF_SIM_STEPS_H
#define TRACEDIFF_SIM_STEPS_H

#include "sim_graph.h"

struct sim_step {
    size_t member;
    struct window window; /* as recorded */
    struct window host;   /* by the clock of the host; if it is not simulated, as recorded */
    size_t stretch;       /* which one it is of */
    bool chosen;
};

/* How a node tells when a step begins or ends. */
enum sim_mark_kind {
    MARK_START,  /* the step of the host begins */
    MARK_END,    /* it ends */
    MARK_WORK,   /* device work of it ends */
    MARK_BACKLOG /* so does work that was launched before the recording (A2.2) */
};

struct sim_mark {
    uint32_t node, step;
    enum sim_mark_kind kind;
};

/* The steps of a member. */
struct sim_stretch {
    size_t first, count;
    bool none;   /* the file has no steps, and is one window */
    bool device; /* they are by the clock of the device */
    bool whole;  /* A2.3 */
    int64_t last; /* of a file without steps: the latest end that has a node */
};

struct sim_steps {
    const struct sim_graph *graph;
    struct sim_step *items; /* of each member by the start of its steps; owned, like the others */
    size_t count, capacity;
    struct sim_mark *marks;
    size_t mark_count, mark_capacity;
    struct sim_stretch *stretches;
    size_t stretch_count;
    size_t **numbers; /* by member, by the index of a number: of its step, or SIZE_MAX; NULL */
    size_t members;
    size_t chosen; /* how many are */
    struct sim_bounds *bounds; /* private: by step */
};

/* `choice` are the chosen steps. On failure nothing is left to clear. */
bool sim_steps_make(struct sim_steps *steps, const struct sim_graph *graph,
                    const struct step_choice *choice, const struct stopper *stopper,
                    struct failure *failure);

/* Adds the end of device work, a node, to a step of a member by the index of its number. Of other
** ranks than the reference it does nothing. */
bool sim_steps_add(struct sim_steps *steps, uint32_t node, size_t member, uint32_t step,
                   struct failure *failure);

/* Finds the lengths of all steps (ns) where the nodes of marks are later by so much, by mark; NULL:
** as recorded. `lengths` has room for all. */
void sim_steps_find(const struct sim_steps *steps, const int64_t *later, wide_time *lengths);

/* Whether a step lasts as long as the host or the device has work of it, whichever is longer. */
bool sim_steps_whole(const struct sim_steps *steps, size_t step);

/* The sum of those of the chosen steps. */
wide_time sim_steps_sum(const struct sim_steps *steps, const wide_time *lengths);

void sim_steps_clear(struct sim_steps *steps);

#endif
