/*
** The ranks on which the comparison of a call is based (Q1.4).
*/
#ifndef TRACEDIFF_COMPARED_RANKS_H
#define TRACEDIFF_COMPARED_RANKS_H

#include "functions/call/call_causes.h"
#include "own_ranks.h"

/* By side: control, test. */
struct compared_ranks {
    /* Ranks for functions that take 'job'. SELECT_DEFAULT: the lowest rank. */
    struct selection chosen[2];
    /* The same ranks one by one; in a job, only ranks with steps, and with the phase. */
    struct selection each[2];
    int64_t ranks;                /* number of ranks in the jobs; NUMBER_NONE: no side is a job */
    struct common_ranks left_out; /* without an argument for ranks: all ranks; else none */
    struct own_ranks own;         /* if it is found, `chosen` has only its rank, */
    struct selection of_own[2];   /* and this has all ranks */
};

/* `limits` are the limits of a gate (own_ranks.h), else NULL. On failure, fills call->failure.
** Clear the ranks in this case, too. */
bool compared_ranks_find(struct call *call, enum step_clock clock,
                         const struct gate_limits *limits, struct compared_ranks *compared);

void compared_ranks_clear(struct compared_ranks *compared);

/* Opens control and test like call_sides_open(), with the compared ranks. */
bool compared_sides_open(struct call *call, enum step_clock clock, struct call_trace *opened);

/* Finds the causes of both sides of a call and adds rows: the `produce` of a function whose
** argument `clock` is the clock, and the next one `shown`. */
int call_causes_produce(struct call *call, int clock, call_causes_rows *add_rows,
                        struct rows **rows);

#endif
