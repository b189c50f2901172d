/*
** Sorting that can be interrupted, and binary search.
*/
#ifndef TRACEDIFF_SORT_H
#define TRACEDIFF_SORT_H

#include <stdbool.h>
#include <stddef.h>

#include "stopper.h"

/* What a function that orders items returns for two values: less than, equal to, greater than 0. */
#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

/* As qsort, but stable, and quick if the items are in order. On FAILURE_MEMORY and
** FAILURE_INTERRUPTED it returns false, and all items are still there, in an unspecified order. */
bool sort_items(void *items, size_t count, size_t size, int (*compare)(const void *, const void *),
                const struct stopper *stopper, struct failure *failure);

/* Sorts items that begin with an int64_t by that, stably: takes time in proportion to how many they
** are, and to the digits of the range of these numbers. As sort_items() if it fails. */
bool sort_numbered(void *items, size_t count, size_t size, const struct stopper *stopper,
                   struct failure *failure);

/* Sets `i` to the first index in [i, end) for which `before`, an expression of `i`, is false, or
** to `end`. `before` must be true of every index before that one and false of it and every later
** one. */
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
