/*
** Sorting that can be stopped: a million items take longer than anybody who has
** pressed Ctrl-C wants to wait.
*/
#ifndef TRACEDIFF_SORT_H
#define TRACEDIFF_SORT_H

#include <stdbool.h>
#include <stddef.h>

#include "../reader/failure.h"

/* Asked now and then during long work: true gives FAILURE_INTERRUPTED. */
struct stopper {
    bool (*stop)(void *argument); /* NULL: never */
    void *argument;
};

/* Asks if `i`, a loop's counter, is a round number; false if the loop is to end. */
bool stopper_goes_on(const struct stopper *stopper, size_t i, struct failure *failure);

/* As qsort, and stable. False on FAILURE_MEMORY and FAILURE_INTERRUPTED: the items
** are then in no order, but all there. */
bool sort_items(void *items, size_t count, size_t size, int (*order)(const void *, const void *),
                const struct stopper *stopper, struct failure *failure);

#endif
