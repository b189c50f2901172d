/*
** The causes of a job in each step, over its ranks. The late rank may change from step to step
** (Q8.5).
*/
#ifndef TRACEDIFF_OWN_STEPS_H
#define TRACEDIFF_OWN_STEPS_H

#include "cause_ranks.h"

/* A cause in one step, in ns. */
struct own_step {
    int64_t most, least; /* over the ranks; least: over ranks that have it, else INT64_MAX */
    uint32_t top;        /* slot of the rank with the most */
};

struct own_steps {
    size_t *place; /* by cause: its index within a step; SIZE_MAX: not tracked */
    size_t width;  /* number of tracked causes */
    int64_t *numbers[2]; /* numbers of the steps of a side, ascending */
    size_t count[2];
    struct own_step *items[2]; /* by step, then place */
};

/* False if out of memory. Call own_steps_clear() in any case. */
bool own_steps_make(struct own_steps *steps, const struct causes *causes,
                    const struct cause_ranks *sides);

/* Adds a step of the rank in a slot; `time` is by cause. */
void own_steps_add(struct own_steps *steps, const struct causes *causes, int side, int64_t number,
                   size_t slot, const wide_time *time);

/* Return the difference of a cause in ns per step, test minus control, on the rank with the most of
** it in each step, and with the least. NAN: not tracked; least only: a side has none of it. */
double own_steps_most(const struct own_steps *steps, size_t cause);
double own_steps_least(const struct own_steps *steps, size_t cause);

/* Whether the rank with the most of a cause changes among the steps of a side. Only steps above the
** middle between both sides' means count. */
bool own_steps_change(const struct own_steps *steps, size_t cause, int side);

void own_steps_clear(struct own_steps *steps);

#endif
