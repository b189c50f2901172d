/*
** The steps of both sides of a call, one by one or as pairs to compare.
*/
#ifndef TRACEDIFF_PAIR_STEPS_H
#define TRACEDIFF_PAIR_STEPS_H

#include "analysis/answer/pair.h"
#include "analysis/steps/attribute.h"
#include "functions/call/call_trace.h"

/* Iterates over the steps of a side. */
struct steps_walk {
    bool (*take)(void *to, const struct attributed_step *step); /* false if out of memory */
    void *to;
    struct attribution *attribution; /* created by steps_walk_take() */
};

/* Calls `take` for each step that has parts, with its parts at a level. The names of the parts are
** valid until the walk is closed. Close it on failure, too. */
bool steps_walk_take(struct call *call, const struct call_trace *opened, enum label_level level,
                     enum step_clock clock, struct steps_walk *steps);

void steps_walk_close(struct steps_walk *steps);

/* Adds the steps of both sides to `count` pairs and finishes them: one pair, or one for each of the
** `ranks`, which ascend. */
bool pair_steps_add(struct call *call, const struct call_trace *opened, enum step_clock clock,
                    struct pair *pairs, const int64_t *ranks, size_t count);

#endif
