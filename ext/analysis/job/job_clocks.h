/*
** How far the clocks of the ranks of a job are apart (Q3).
*/
#ifndef TRACEDIFF_JOB_CLOCKS_H
#define TRACEDIFF_JOB_CLOCKS_H

#include "job_match.h"

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

/* Counts the ranks of the job that the chosen ranks of a trace are, and those of them that nothing
** ties in any step (Q3.4). `device_clock` as for job_make(). */
bool job_untied(const struct trace *trace, bool device_clock, int64_t *ranks, int64_t *untied,
                const struct stopper *stopper, struct failure *failure);

#endif
