/*
** The simulated part of a trace (E11): some chosen steps, in runs of consecutive steps, with the
** step before each run. Events outside have no points.
*/
#ifndef TRACEDIFF_SIM_SAMPLE_H
#define TRACEDIFF_SIM_SAMPLE_H

#include "trace/step_choice.h"

/* A stretch of a member's time by its own clock, both ends included. */
struct sim_stay {
    int64_t start, end; /* ns */
};

/* The simulated part of a member; a member without steps is simulated as a whole. */
struct sim_share {
    bool *taken;            /* by index of the member's iterations; NULL: all of it is simulated */
    struct sim_stay *stays; /* ascending, disjoint */
    size_t count;
};

struct sim_sample {
    const struct trace *trace;
    struct sim_share *shares;  /* by member; NULL: the whole trace is simulated */
    struct step_choice choice; /* steps of the sample; empty if the whole trace is simulated */
    size_t steps, of;          /* number of sampled steps, and of chosen steps */
};

/* Samples at most `most` of the chosen steps. If no more are chosen, the whole trace is simulated.
** Leaves nothing to clear on failure. */
bool sim_sample_make(struct sim_sample *sample, const struct trace *trace,
                     const struct step_choice *choice, size_t most, const struct stopper *stopper,
                     struct failure *failure);

/* Returns the share of a member; NULL: all of it is simulated. `sample` may be NULL. */
static inline const struct sim_share *sim_share_of(const struct sim_sample *sample, size_t member)
{
    bool part = sample && sample->shares && sample->shares[member].taken;
    return part ? &sample->shares[member] : NULL;
}

/* True if [start, end], maybe one instant, touches a simulated stretch. `share` may be NULL. */
bool sim_share_has(const struct sim_share *share, int64_t start, int64_t end);

/* Accepts a zeroed struct. */
void sim_sample_clear(struct sim_sample *sample);

#endif
