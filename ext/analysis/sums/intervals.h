/*
** Sets of instants as intervals, for the time that something runs however its events overlap.
*/
#ifndef TRACEDIFF_INTERVALS_H
#define TRACEDIFF_INTERVALS_H

#include "base/sort.h"
#include "base/wide.h"

struct interval {
    wide_time start, end; /* [start, end) */
};

struct intervals {
    struct interval *items; /* owned */
    size_t count, capacity;
    bool unsorted; /* false: sorted, and no two overlap or touch */
};

/* Adds an interval. Intervals that are added in order and touch become one. False if out of
** memory. */
bool intervals_add(struct intervals *intervals, wide_time start, wide_time end);

/* Sorts the intervals and joins those that overlap or touch. False on failure. */
bool intervals_merge(struct intervals *intervals, const struct stopper *stopper,
                     struct failure *failure);

/* The length of merged intervals, and the length of the overlap of two sets of them. */
wide_time intervals_length(const struct intervals *intervals);
wide_time intervals_common(const struct intervals *a, const struct intervals *b);

void intervals_clear(struct intervals *intervals);

#endif
