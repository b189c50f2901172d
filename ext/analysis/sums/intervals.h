/*
** Sets of time intervals: how long something runs, however its events overlap.
*/
#ifndef TRACEDIFF_INTERVALS_H
#define TRACEDIFF_INTERVALS_H

#include "base/sort.h"
#include "base/wide.h"

struct interval {
    wide_time start, end; /* ns; the end is exclusive */
};

struct intervals {
    struct interval *items; /* owned */
    size_t count, capacity;
    bool unsorted; /* false: sorted, and no two intervals overlap or touch */
};

/* Adds an interval. Added in order, touching intervals become one. False if out of memory. */
bool intervals_add(struct intervals *intervals, wide_time start, wide_time end);

/* Sorts the intervals and joins overlapping and touching ones. False on failure. */
bool intervals_merge(struct intervals *intervals, const struct stopper *stopper,
                     struct failure *failure);

/* Length of a merged set, and length of the overlap of two merged sets. */
wide_time intervals_length(const struct intervals *intervals);
wide_time intervals_common(const struct intervals *a, const struct intervals *b);

void intervals_clear(struct intervals *intervals);

#endif
