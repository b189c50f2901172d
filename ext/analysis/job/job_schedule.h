/*
** On which rank the path of a job is, and when (Q4, Q5).
*/
#ifndef TRACEDIFF_JOB_SCHEDULE_H
#define TRACEDIFF_JOB_SCHEDULE_H

#include "job_clocks.h"

/* A stretch of the path on one rank. */
struct job_stretch {
    int64_t start, end; /* ns, by the clock of the reference */
    int64_t own_start;  /* by that of the rank */
    uint32_t rank;      /* index into job.ranks */
    uint32_t window;    /* of the reference */
    uint32_t queued;    /* the collective that is the part throughout (Q5.4, Q10.5), or JOB_NONE */
    uint32_t waiting;   /* the rank that waits for this one at its end, or JOB_NONE */
    uint32_t awaited;   /* the collective that it waits for, of that rank */
};

struct job_schedule {
    struct job_stretch *items; /* from the end of the last window back; owned */
    size_t count, capacity;
    size_t not_tied; /* ranks that are not on the path because nothing ties their clock (Q3.4) */
};

bool job_schedule_make(struct job_schedule *schedule, const struct job *job,
                       struct failure *failure);

/* A stretch, or a piece of it that is in one window of its rank. */
struct job_piece {
    const struct job_window *window;
    int64_t start, end; /* ns, by the clock of the rank */
};

/* Finds the piece of a stretch that ends at the start of `piece`; at first, its last one, for a
** piece whose window is NULL. False if there is none. */
bool job_stretch_piece(const struct job *job, const struct job_stretch *stretch,
                       struct job_piece *piece);

/* Does nothing to a zeroed struct. */
void job_schedule_clear(struct job_schedule *schedule);

#endif
