/*
** The pair that a call compares: the ranks and steps of both traces, their lengths, and the
** verdict.
*/
#ifndef TRACEDIFF_CALL_PAIR_H
#define TRACEDIFF_CALL_PAIR_H

#include "analysis/answer/verdict.h"
#include "compared_ranks.h"
#include "functions/call/call_causes.h"

/* By side: control, test. */
struct call_pair {
    struct compared_ranks ranks;
    bool is_job; /* both sides are */
    enum step_clock clock;
    bool open;
    struct call_trace asked[2]; /* the ranks, with the steps that the call asks for */
    struct pair pair;
    struct pair_verdict verdict;
    struct selection kept[2];              /* the steps without outliers, if there are any */
    const struct selection *iterations[2]; /* these; NULL: as the arguments say */
};

/* Opens the pair; `one_by_one`: the ranks of jobs are compared one by one instead. On failure,
** fills call->failure; to be closed then, too. */
bool call_pair_open(struct call *call, enum step_clock clock, bool one_by_one,
                    struct call_pair *pair);

/* Does nothing to a zeroed struct. */
void call_pair_close(struct call_pair *pair);

/* Goes through the steps of a side. */
struct steps_walk {
    bool (*take)(void *to, const struct attributed_step *step); /* false if out of memory */
    void *to;
    struct attribution *attribution; /* made here */
};

/* Calls `take` for each step that has parts, with its parts at a level. The names of the parts stay
** until the struct is closed, which is to be done on failure, too. */
bool steps_walk_take(struct call *call, const struct call_trace *opened, enum label_level level,
                     enum step_clock clock, struct steps_walk *steps);

void steps_walk_close(struct steps_walk *steps);

#endif
