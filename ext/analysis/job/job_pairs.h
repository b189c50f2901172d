/*
** The two ranks of each send and receive (Q2.5). Kernels of a batch have no args with their peer,
** but the host calls do.
*/
#ifndef TRACEDIFF_JOB_PAIRS_H
#define TRACEDIFF_JOB_PAIRS_H

#include "file/file.h"

/* the calls of a file that send or receive; may be zeroed, for none */
struct job_pairs {
    const struct trace_file *file;
    struct pair_call *calls; /* by thread, then start */
    size_t count, capacity;
};

/* On failure, the caller still clears `pairs`. */
bool job_pairs_make(struct job_pairs *pairs, const struct trace_file *file,
                    const struct stopper *stopper, struct failure *failure);

/* Finds the args that give the two ranks of a kernel: its own, or those on its calls. `*between`
** gets both ranks, the lower one first. NULL: the kernel is no send or receive, or its calls name
** no peer or several. */
const struct process_group *job_pairs_find(const struct job_pairs *pairs, uint32_t row,
                                           const struct process_group *own, int64_t rank,
                                           int64_t between[2]);

void job_pairs_clear(struct job_pairs *pairs);

#endif
