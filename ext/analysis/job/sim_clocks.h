/*
** One clock for the ranks of a job: what their own are ahead of that of the reference, step by step
** (Q3).
*/
#ifndef TRACEDIFF_SIM_CLOCKS_H
#define TRACEDIFF_SIM_CLOCKS_H

#include "job_clocks.h"

/* From `start` on, by the own clock of a rank, its times are `offset` less by that of the
** reference, but `least` at the least: no point goes before one that is earlier on its rank. */
struct sim_piece {
    int64_t start, offset, least; /* ns */
};

/* The clock of a rank. */
struct sim_clock {
    struct sim_piece *pieces; /* by start; the first begins before all events */
    size_t count;
};

struct sim_clocks {
    struct sim_clock *ranks; /* by rank of the job; owned */
    size_t count;
    int64_t
        *offsets; /* by job.members: the offset of its rank in the step of the collective; owned */
};

/* Where nothing ties a clock, its offset is 0. */
bool sim_clocks_make(struct sim_clocks *clocks, const struct job *job, struct failure *failure);

/* Whether the ranks of a match have an instant of the collective in common. */
bool sim_clocks_meet(const struct sim_clocks *clocks, const struct job *job, size_t match);

/* A time by the clock of the reference. */
int64_t sim_clock_time(const struct sim_clock *clock, int64_t own);

void sim_clocks_clear(struct sim_clocks *clocks);

#endif
