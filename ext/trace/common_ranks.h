/*
** The ranks for comparing two traces as jobs: the ranks complete on both sides (Q1.4).
*/
#ifndef TRACEDIFF_COMMON_RANKS_H
#define TRACEDIFF_COMMON_RANKS_H

#include "trace.h"

/* The reason for leaving out a rank; the first that applies. */
enum left_out {
    LEFT_NOT,
    LEFT_ALONE,      /* the other side lacks it */
    LEFT_INCOMPLETE, /* incomplete files (T15) */
    LEFT_CYCLES,     /* files that are not cycles of one run (T8) */
    LEFT_STEPS,      /* no steps, while other ranks have some (T12.4) */
    LEFT_PHASE,      /* no steady step of the phase (T23.2) */
    LEFT_COUNT
};

struct common_rank {
    int64_t rank;
    enum left_out why;
    int side; /* side with the reason: 0 control, 1 test */
    /* by side: it exists; and it has steps, i.e. neither LEFT_STEPS nor LEFT_PHASE */
    bool there[2], with_steps[2];
};

struct common_ranks {
    struct common_rank *items; /* every rank of either side, ascending; owned */
    size_t count;
    size_t taken; /* number that are not left out */
};

/* Ranks that are compared individually, because no collective ties them (Q1.6). */
struct own_ranks {
    bool there;   /* ranks are compared individually */
    int64_t rank; /* the rank of the answer */
    int64_t count, slower, faster, equal; /* numbers of ranks; the rest is inconclusive */
};

/* Finds the ranks of control and test. Their files must be open with TRACE_FOR_EVENTS. */
bool common_ranks_find(struct common_ranks *ranks, const struct trace *sides,
                       const struct selection *iterations, struct failure *failure);

/* Does nothing to a zeroed struct. */
void common_ranks_clear(struct common_ranks *ranks);

#endif
