/*
** The ranks of a job, and which of their collectives are one (Q2).
*/
#ifndef TRACEDIFF_JOB_MATCH_H
#define TRACEDIFF_JOB_MATCH_H

#include "trace/step_choice.h"
#include "job_rank.h"

/* A collective of a rank that is matched. */
struct job_member {
    uint32_t rank, collective; /* indices into job.ranks and its collectives */
};

/* A collective, on all ranks that recorded it. */
struct job_match {
    size_t first; /* in job.members, lower ranks first */
    uint32_t count;
    bool by_all; /* on the lowest rank */
};

struct job {
    const struct trace *trace;
    struct names texts;
    struct job_rank *ranks; /* by rank; the first is the reference */
    size_t rank_count;
    struct job_member *members;
    size_t member_count;
    struct job_match *matches; /* by step */
    size_t match_count;
    size_t not_matched; /* collectives of ranks (Q2) */
    size_t unequal;     /* of these, because ranks have other numbers of them (Q2.3) */
    const struct stopper *stopper;
};

/* Opens the job that the chosen ranks of a trace are. Of one rank, it has no collectives unless
** they are asked `always`. The trace must outlive it. */
bool job_make(struct job *job, const struct trace *trace, bool device_clock, bool always,
              const struct stopper *stopper, struct failure *failure);

/* Matches the collectives of ranks that are there (Q2). On failure the job is to be cleared. */
bool job_match(struct job *job, struct failure *failure);

/* The numbers of the chosen steps of the reference, ascending; if everything is chosen (`choice`
** may be NULL then), also those of steps with collectives, and NUMBER_NONE; nothing without ranks.
** NULL if out of memory. */
int64_t *job_list_steps(const struct job *job, const struct step_choice *choice, size_t *count);

/* Does nothing to a zeroed struct. */
void job_clear(struct job *job);

#endif
