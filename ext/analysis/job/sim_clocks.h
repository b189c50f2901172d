/*
** A common clock for the ranks of a job, from each rank's offset to the reference in each step
** (Q3).
*/
#ifndef TRACEDIFF_SIM_CLOCKS_H
#define TRACEDIFF_SIM_CLOCKS_H

#include "job_clocks.h"

/* Converts a rank's own times from `start` on: common time = own time - offset, but at least
** `least`, so that times never run backwards on a rank. */
struct sim_piece {
    int64_t start, offset, least; /* ns */
};

/* clock of one rank */
struct sim_clock {
    struct sim_piece *pieces; /* by start; the first begins before all events */
    size_t count;
};

struct sim_clocks {
    struct sim_clock *ranks; /* by rank of the job; owned */
    size_t count;
    int64_t
        *offsets; /* by index in job.members: offset of its rank in the collective's step; owned */
};

/* An untied rank has offset 0. */
bool sim_clocks_make(struct sim_clocks *clocks, const struct job *job, struct failure *failure);

/* Returns whether all ranks of a match are in the collective at some common instant. */
bool sim_clocks_meet(const struct sim_clocks *clocks, const struct job *job, size_t match);

/* Converts a rank's own time to the clock of the reference. */
int64_t sim_clock_time(const struct sim_clock *clock, int64_t own);

void sim_clocks_clear(struct sim_clocks *clocks);

#endif
