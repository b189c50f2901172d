/*
** The ranks by which a call compares two traces (Q1.4).
*/
#ifndef TRACEDIFF_COMPARED_RANKS_H
#define TRACEDIFF_COMPARED_RANKS_H

#include "functions/call/call_trace.h"

/* By side: control, test. */
struct compared_ranks {
    /* What functions that take 'job' are to open. SELECT_DEFAULT: the lowest rank. */
    struct selection chosen[2];
    /* The same ranks one by one, of a job those that have steps, with the phase. */
    struct selection each[2];
    int64_t ranks;                /* of the jobs; NUMBER_NONE if no side is one */
    struct common_ranks left_out; /* without the argument for ranks: these, and others; else none */
};

/* On failure, fills call->failure; to be cleared then, too. */
bool compared_ranks_find(struct call *call, struct compared_ranks *compared);

/* Makes the jobs their ranks one by one. */
bool compared_ranks_split(struct compared_ranks *compared, struct failure *failure);

void compared_ranks_clear(struct compared_ranks *compared);

#endif
