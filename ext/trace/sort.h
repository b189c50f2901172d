/*
** Sorting that can be stopped, and searching what is sorted.
*/
#ifndef TRACEDIFF_SORT_H
#define TRACEDIFF_SORT_H

#include <stdbool.h>
#include <stddef.h>

#include "../reader/stopper.h"

/* As qsort, and stable. False on FAILURE_MEMORY and FAILURE_INTERRUPTED: the items
** are then in no order, but all there. */
bool sort_items(void *items, size_t count, size_t size, int (*order)(const void *, const void *),
                const struct stopper *stopper, struct failure *failure);

/* Sets `i` to the first index from `i` to `end` for which `before`, an expression of `i`, is
** false: it must be true of all indexes before that one, and of none after it. */
#define LOWER_BOUND(i, end, before)          \
    do {                                     \
        size_t from_ = (i), to_ = (end);     \
        while (from_ < to_) {                \
            (i) = from_ + (to_ - from_) / 2; \
            if (before)                      \
                from_ = (i) + 1;             \
            else                             \
                to_ = (i);                   \
        }                                    \
        (i) = from_;                         \
    } while (0)

#endif
