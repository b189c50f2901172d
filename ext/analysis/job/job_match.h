/*
** The ranks of a job, and which of their collectives are the same one (Q2).
*/
#ifndef TRACEDIFF_JOB_MATCH_H
#define TRACEDIFF_JOB_MATCH_H

#include "trace/step_choice.h"
#include "job_rank.h"

/* a matched collective on one rank */
struct job_member {
    uint32_t rank, collective; /* indices into job.ranks and that rank's collectives */
};

/* a collective on all ranks that recorded it */
struct job_match {
    size_t first; /* index into job.members; lower ranks come first */
    uint32_t count;
    bool by_all; /* all ranks wait for all; the lowest rank decides */
};

struct job {
    const struct trace *trace;
    struct names texts;
    struct job_rank *ranks; /* by rank; the first is the reference */
    size_t rank_count;
    struct job_member *members;
    size_t member_count;
    struct job_match *matches; /* ordered by step */
    size_t match_count;
    size_t not_matched; /* unmatched collectives, counted on each rank (Q2) */
    size_t unequal;     /* part of not_matched: ranks have unequal numbers of them (Q2.3) */
    const struct stopper *stopper;
};

/* Collects the chosen ranks of a trace and matches their collectives. A job with one rank gets no
** collectives unless `always` is set. The trace must outlive the job. */
bool job_make(struct job *job, const struct trace *trace, bool device_clock, bool always,
              const struct stopper *stopper, struct failure *failure);

/* Matches the collectives of the ranks (Q2). On failure, the caller still clears the job. */
bool job_match(struct job *job, struct failure *failure);

/* Lists the numbers of the reference's chosen steps, ascending. If everything is chosen (`choice`
** may then be NULL), the list also has steps with collectives, and NUMBER_NONE. Without ranks it is
** empty. NULL if out of memory. */
int64_t *job_list_steps(const struct job *job, const struct step_choice *choice, size_t *count);

void job_clear(struct job *job);

#endif
