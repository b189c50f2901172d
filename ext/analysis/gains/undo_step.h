/*
** A step of test beside the step of control that it is compared with.
*/
#ifndef TRACEDIFF_UNDO_STEP_H
#define TRACEDIFF_UNDO_STEP_H

#include "undo_pairs.h"

struct undo_step {
    const struct undo_pairs *pairs;
    size_t number;     /* of the next pair of steps */
    size_t first, end; /* the events of test */
    size_t from, to;   /* those of control */
    uint32_t *test_of; /* by event of control, from `from` on: the event of test, or UNDO_NONE */
    const struct undo_point *points; /* of threads of control, by lane, then by node */
    size_t point_count;
    size_t *begins, *ends; /* by event of control, from `from` on: its points */
    /* By point: the last one before it or itself, and the next one after it or itself, of its
    ** thread, whose event is paired; SIZE_MAX. */
    size_t *last, *next;
};

/* Moves to the next pair of steps. False at the end, and on failure. A struct with `pairs` alone is
** before the first. */
bool undo_step_next(struct undo_step *step, const struct stopper *stopper, struct failure *failure);

/* The event of test that an event of control is paired with, or UNDO_NONE. */
static inline uint32_t undo_test_of(const struct undo_step *step, uint32_t event)
{
    return step->test_of[event - step->from];
}

/* The node of test of a point whose event is paired. */
uint32_t undo_test_node(const struct undo_step *step, size_t point);

/* Does nothing to a zeroed struct. */
void undo_step_clear(struct undo_step *step);

#endif
