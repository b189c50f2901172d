/*
** The path of a job: which rank it is on, and when (Q4, Q5).
*/
#ifndef TRACEDIFF_JOB_SCHEDULE_H
#define TRACEDIFF_JOB_SCHEDULE_H

#include "job_clocks.h"

/* a stretch of the path on one rank */
struct job_stretch {
    int64_t start, end; /* ns, by the clock of the reference */
    int64_t own_start;  /* ns, by the clock of the rank */
    uint32_t rank;      /* index into job.ranks */
    uint32_t window;    /* index of the reference's window */
    uint32_t queued;    /* collective that covers the stretch (Q5.4, Q10.5), or JOB_NONE */
    uint32_t waiting;   /* rank that waits for this one at the end of the stretch, or JOB_NONE */
    uint32_t awaited;   /* collective, on the waiting rank, in which it waits */
};

struct job_schedule {
    struct job_stretch *items; /* from the end of the last window backwards; owned */
    size_t count, capacity;
    size_t not_tied; /* untied ranks, which are never on the path (Q3.4) */
};

bool job_schedule_make(struct job_schedule *schedule, const struct job *job,
                       struct failure *failure);

/* a piece of a stretch within one window of its rank */
struct job_piece {
    const struct job_window *window;
    int64_t start, end; /* ns, by the clock of the rank */
};

/* Finds the piece of a stretch that ends where `piece` starts. The first call passes a piece with
** window NULL and gets the last piece. False if none is left. */
bool job_stretch_piece(const struct job *job, const struct job_stretch *stretch,
                       struct job_piece *piece);

void job_schedule_clear(struct job_schedule *schedule);

#endif
