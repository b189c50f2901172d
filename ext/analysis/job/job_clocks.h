/*
** The ranks of a job: which of their collectives are one (Q2), how far their clocks are apart (Q3).
*/
#ifndef TRACEDIFF_JOB_CLOCKS_H
#define TRACEDIFF_JOB_CLOCKS_H

#include "trace/choice.h"
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

/* The clocks of the ranks, step by step. */
struct job_clocks {
    const struct job *job;
    wide_time *offset; /* ns by rank: its clock minus that of the reference */
    bool *tied;        /* by rank; false: the rank is not on the path */
    /* private */
    wide_time *of_all; /* the offsets that all steps give */
    bool *tied_of_all;
    wide_time *other; /* what is found by collectives of any kind */
    bool *tied_by_other;
    bool has_all;
    uint32_t *queue;    /* ranks that are tied, in the order in which they were found */
    uint32_t *met;      /* by match: the search that has met it */
    uint32_t search;
    struct clock_sample *samples;
    size_t sample_capacity;
};

bool job_clocks_make(struct job_clocks *clocks, const struct job *job, struct failure *failure);

/* Finds the offsets of a step, by its number; NUMBER_NONE: of a job without steps. */
bool job_clocks_find(struct job_clocks *clocks, int64_t step, struct failure *failure);

/* Takes the offsets that all steps give. */
bool job_clocks_find_all(struct job_clocks *clocks, struct failure *failure);

/* ns that the clock of a rank is ahead; NUMBER_NONE: nothing ties it, or not within 64 bits. */
int64_t job_clocks_offset(const struct job_clocks *clocks, size_t rank);

void job_clocks_clear(struct job_clocks *clocks);

#endif
