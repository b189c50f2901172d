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
    const struct step_choice *choice; /* the steps of the sample */
    struct path_syncs *syncs; /* by member */
    struct sim_work *works;   /* by member */
    struct sim_graph graph;
    struct sim_steps steps;
    int64_t *later;       /* room for all nodes */
    int64_t *marks;       /* room for all marks of steps */
    wide_time *recorded;  /* ns, by step */
    wide_time *simulated; /* ns, by step */
};

/* Builds the simulations of traces, with at most `most_steps` of the chosen steps each (E11), and
** checks that they reproduce the recorded times (E1). On failure, fills call->failure. Close them
** in this case, too. */
bool call_simulations_open(struct call *call, const struct call_trace *opened, size_t count,
                           size_t most_steps, struct call_simulation *simulations);

/* Finds the step times in `simulated` if the lag of each edge grows by `longer`. */
bool call_simulation_run(struct call *call, struct call_simulation *simulation,
                         const int64_t *longer);

/* Frees the work, which is needed only to undo causes on this trace. */
void call_simulation_forget_works(struct call_simulation *simulation);

/* Does nothing to a zeroed struct. */
void call_simulation_close(struct call_simulation *simulation);

#endif
