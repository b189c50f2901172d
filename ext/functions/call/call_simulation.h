/*
** The simulation of a trace that a call has opened.
*/
#ifndef TRACEDIFF_CALL_SIMULATION_H
#define TRACEDIFF_CALL_SIMULATION_H

#include "analysis/simulation/sim_steps.h"
#include "analysis/simulation/simulate.h"
#include "call_trace.h"

struct call_simulation {
    const struct call_trace *opened;
    struct sim_sample sample;
    const struct step_choice *choice; /* the chosen steps, those of the sample */
    struct path_syncs *syncs; /* by member */
    struct sim_work *works;   /* the same */
    struct sim_graph graph;
    struct sim_steps steps;
    int64_t *later;       /* room for all nodes */
    int64_t *marks;       /* and for all marks of steps */
    wide_time *recorded;  /* ns, by step */
    wide_time *simulated; /* room for all steps */
};

/* Makes the simulations of traces, of at most so many of the chosen steps each (E11), and checks
** that they give the recorded times (E1). On failure, fills call->failure; to be closed then,
** too. */
bool call_simulations_open(struct call *call, const struct call_trace *opened, size_t count,
                           size_t most_steps, struct call_simulation *simulations);

/* Finds the lengths of steps in `simulated` if lags are so much longer, by edge. */
bool call_simulation_run(struct call *call, struct call_simulation *simulation,
                         const int64_t *longer);

/* Frees the work, which only the undoing of causes of this trace needs. */
void call_simulation_forget_works(struct call_simulation *simulation);

/* Does nothing to a zeroed struct. */
void call_simulation_close(struct call_simulation *simulation);

#endif
