/*
** What the ranks of a job have of its causes in each step by itself: the rank that is late may be
** another one in each (Q8.5).
*/
#ifndef TRACEDIFF_OWN_STEPS_H
#define TRACEDIFF_OWN_STEPS_H

#include "cause_ranks.h"

/* A cause in a step, ns. */
struct own_step {
    int64_t most, least; /* over the ranks; `least` of those that have it, else INT64_MAX */
    uint32_t top;        /* the slot of the rank that has most of it */
};

struct own_steps {
    size_t *place; /* by cause: where it is in a step; SIZE_MAX: it is not looked at */
    size_t width;  /* causes that are looked at */
    int64_t *numbers[2]; /* of the steps of a side, ascending */
    size_t count[2];
    struct own_step *items[2]; /* by step and place */
};

/* False if out of memory; own_steps_clear() is needed all the same. */
bool own_steps_make(struct own_steps *steps, const struct causes *causes,
                    const struct cause_ranks *sides);

/* Adds a step of the rank of a slot: `time` is that of each cause. */
void own_steps_add(struct own_steps *steps, const struct causes *causes, int side, int64_t number,
                   size_t slot, const wide_time *time);

/* ns per step, test less control, that the rank with most of a cause has of it, and the rank with
** the least. NAN: it is not looked at, or no rank has it on a side. */
double own_steps_most(const struct own_steps *steps, size_t cause);
double own_steps_least(const struct own_steps *steps, size_t cause);

/* Whether the rank that has most of a cause is another one in other steps, of those steps of a side
** that have more of it than the middle between both sides. */
bool own_steps_change(const struct own_steps *steps, size_t cause, int side);

void own_steps_clear(struct own_steps *steps);

#endif
