/*
** The ranks by which a call compares two traces (Q1.4).
*/
#ifndef TRACEDIFF_COMPARED_RANKS_H
#define TRACEDIFF_COMPARED_RANKS_H

#include "functions/call/call_causes.h"
#include "own_ranks.h"

/* By side: control, test. */
struct compared_ranks {
    /* What functions that take 'job' are to open. SELECT_DEFAULT: the lowest rank. */
    struct selection chosen[2];
    /* The same ranks one by one, of a job those that have steps, with the phase. */
    struct selection each[2];
    int64_t ranks;                /* of the jobs; NUMBER_NONE if no side is one */
    struct common_ranks left_out; /* without the argument for ranks: these, and others; else none */
    struct own_ranks own;         /* if they are there, the rank is what is chosen, and */
    struct selection of_own[2];   /* these are all of them */
};

/* `limits`: a gate asks, with these (own_ranks.h); else NULL. On failure, fills call->failure; to
** be cleared then, too. */
bool compared_ranks_find(struct call *call, enum step_clock clock,
                         const struct gate_limits *limits, struct compared_ranks *compared);

void compared_ranks_clear(struct compared_ranks *compared);

/* Opens control and test as call_sides_open(), with the ranks that are compared. */
bool compared_sides_open(struct call *call, enum step_clock clock, struct call_trace *opened);

/* Finds the causes of both sides of a call and adds rows: the `produce` of a function whose
** argument `clock` is the clock, and the next one `shown`. */
int call_causes_produce(struct call *call, int clock, call_causes_rows *add_rows,
                        struct rows **rows);

#endif
