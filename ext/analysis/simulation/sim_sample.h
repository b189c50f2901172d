/*
** A part of a trace that is simulated (E11): some of the chosen steps, in runs of steps that follow
** each other, with the step before each run. What is outside has no points.
*/
#ifndef TRACEDIFF_SIM_SAMPLE_H
#define TRACEDIFF_SIM_SAMPLE_H

#include "trace/step_choice.h"

/* A stretch of time of a member, by its own clock; both ends are in it. */
struct sim_stay {
    int64_t start, end; /* ns */
};

/* What is simulated of a member. Of one without steps that is all. */
struct sim_share {
    bool *taken;            /* by index of its iterations: of the sample; NULL: all is simulated */
    struct sim_stay *stays; /* in order, apart from each other */
    size_t count;
};

struct sim_sample {
    const struct trace *trace;
    struct sim_share *shares;  /* by member; NULL: the whole trace is simulated */
    struct step_choice choice; /* the steps of the sample, unless that is the whole trace */
    size_t steps, of;          /* how many numbers of steps the sample has, and are chosen */
};

/* Chooses at most so many of the chosen steps. If there are no more, the whole trace is simulated.
** On failure nothing is left to clear. */
bool sim_sample_make(struct sim_sample *sample, const struct trace *trace,
                     const struct step_choice *choice, size_t most, const struct stopper *stopper,
                     struct failure *failure);

/* The share of a member. `sample` may be NULL. NULL: all of it is simulated. */
static inline const struct sim_share *sim_share_of(const struct sim_sample *sample, size_t member)
{
    bool part = sample && sample->shares && sample->shares[member].taken;
    return part ? &sample->shares[member] : NULL;
}

/* Whether an instant or a stretch of time, [start, end], touches one that is simulated. `share` may
** be NULL. */
bool sim_share_has(const struct sim_share *share, int64_t start, int64_t end);

/* Does nothing to a zeroed struct. */
void sim_sample_clear(struct sim_sample *sample);

#endif
