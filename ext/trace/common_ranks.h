/*
** The ranks by which two traces can be compared as jobs: those that both have, whole (Q1.4).
*/
#ifndef TRACEDIFF_COMMON_RANKS_H
#define TRACEDIFF_COMMON_RANKS_H

#include "trace.h"

/* Why a rank is left out; the first that holds. */
enum left_out {
    LEFT_NOT,
    LEFT_ALONE,      /* only this side has it */
    LEFT_INCOMPLETE, /* T15 */
    LEFT_CYCLES,     /* T8 */
    LEFT_STEPS,      /* it has no steps, beside ranks that have (T12.4) */
    LEFT_PHASE,      /* it has no steady step of the phase (T23.2) */
    LEFT_COUNT
};

struct common_rank {
    int64_t rank;
    enum left_out why;
    int side; /* that is the reason: 0 control, 1 test */
    /* By side: it is there; and with the steps, unless LEFT_STEPS or LEFT_PHASE holds there. */
    bool there[2], with_steps[2];
};

struct common_ranks {
    struct common_rank *items; /* every rank of either side, ascending; owned */
    size_t count;
    size_t taken; /* of them those that are not left out */
};

/* Ranks that are compared each with itself, as nothing ties them (Q1.6). */
struct own_ranks {
    bool there;   /* ranks are compared so */
    int64_t rank; /* the one that the answer is of */
    int64_t count, slower, faster, equal; /* ranks; others are not clear */
};

/* Finds the ranks of control and test, all of whose files were opened for TRACE_FOR_EVENTS. */
bool common_ranks_find(struct common_ranks *ranks, const struct trace *sides,
                       const struct selection *iterations, struct failure *failure);

/* Does nothing to a zeroed struct. */
void common_ranks_clear(struct common_ranks *ranks);

#endif
