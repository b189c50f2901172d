/*
** Offsets between the clocks of a job's ranks (Q3).
*/
#ifndef TRACEDIFF_JOB_CLOCKS_H
#define TRACEDIFF_JOB_CLOCKS_H

#include "job_match.h"

/* offsets of the ranks in the current step */
struct job_clocks {
    const struct job *job;
    wide_time *offset; /* by rank, ns: its clock minus the reference's */
    bool *tied;        /* by rank; an untied rank is not on the path */
    /* private */
    wide_time *of_all; /* offsets over all steps */
    bool *tied_of_all;
    wide_time *other; /* result of the search over collectives of any kind */
    bool *tied_by_other;
    bool has_all;
    uint32_t *queue;    /* tied ranks, in the order in which they were found */
    uint32_t *met;      /* by match: the last search that met it */
    uint32_t search;
    struct clock_sample *samples;
    size_t sample_capacity;
};

bool job_clocks_make(struct job_clocks *clocks, const struct job *job, struct failure *failure);

/* Finds the offsets in the step with this number; NUMBER_NONE: in a job without steps. */
bool job_clocks_find(struct job_clocks *clocks, int64_t step, struct failure *failure);

/* Finds the offsets over all steps. */
bool job_clocks_find_all(struct job_clocks *clocks, struct failure *failure);

/* Returns how many ns a rank's clock is ahead. NUMBER_NONE: the rank is not tied, or the offset
** does not fit 64 bits. */
int64_t job_clocks_offset(const struct job_clocks *clocks, size_t rank);

void job_clocks_clear(struct job_clocks *clocks);

/* Counts the ranks of the job formed by a trace's chosen ranks, and how many of them no step ties
** (Q3.4). For `device_clock`, see job_make(). */
bool job_untied(const struct trace *trace, bool device_clock, int64_t *ranks, int64_t *untied,
                const struct stopper *stopper, struct failure *failure);

#endif
