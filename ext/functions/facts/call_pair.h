/*
** The pair that a call compares: the ranks and steps of both traces, step times, and the verdict.
*/
#ifndef TRACEDIFF_CALL_PAIR_H
#define TRACEDIFF_CALL_PAIR_H

#include "analysis/answer/verdict.h"
#include "compared_ranks.h"
#include "functions/call/call_causes.h"
#include "pair_steps.h"

/* By side: control, test. */
struct call_pair {
    struct compared_ranks ranks;
    bool is_job; /* both sides are jobs */
    enum step_clock clock;
    bool open;
    struct call_trace asked[2]; /* the ranks, with the steps that the call requests */
    struct pair pair;
    struct pair_verdict verdict;
    struct selection kept[2];              /* the steps without outliers, if there are outliers */
    const struct selection *iterations[2]; /* points to `kept`; NULL: from the arguments */
};

/* Opens the pair. `limits` is like in compared_ranks_find(). On failure, fills call->failure. Close
** the pair in this case, too. */
bool call_pair_open(struct call *call, enum step_clock clock, const struct gate_limits *limits,
                    struct call_pair *pair);

/* Does nothing to a zeroed struct. */
void call_pair_close(struct call_pair *pair);

#endif
