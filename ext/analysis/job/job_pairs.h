/*
** Sends and receives of two ranks (Q2.5): the kernels of one batch have no args that say between
** which ranks they are, but the calls of the host have.
*/
#ifndef TRACEDIFF_JOB_PAIRS_H
#define TRACEDIFF_JOB_PAIRS_H

#include "file/file.h"

/* The calls of a file that send or receive; zeroed, there are none. */
struct job_pairs {
    const struct trace_file *file;
    struct pair_call *calls; /* by thread, then start */
    size_t count, capacity;
};

/* On failure, to be cleared, too. */
bool job_pairs_make(struct job_pairs *pairs, const struct trace_file *file,
                    const struct stopper *stopper, struct failure *failure);

/* What says between which ranks a kernel is: its own args, or its calls. `*between` are both ranks,
** the lower one first. NULL: it is no send or receive, its calls name several others, or none. */
const struct process_group *job_pairs_find(const struct job_pairs *pairs, uint32_t row,
                                           const struct process_group *own, int64_t rank,
                                           int64_t between[2]);

void job_pairs_clear(struct job_pairs *pairs);

#endif
