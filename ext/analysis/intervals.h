/*
** Sets of instants, as intervals: how long something runs, however it overlaps.
*/
#ifndef TRACEDIFF_INTERVALS_H
#define TRACEDIFF_INTERVALS_H

#include "../trace/sort.h"
#include "../trace/wide.h"

struct interval {
    wide_time start, end; /* [start, end) */
};

struct intervals {
    struct interval *items; /* owned */
    size_t count, capacity;
    bool unsorted; /* else they are apart, in order */
};

/* Adds an interval; those that come in order and touch become one. False if
** out of memory. */
bool intervals_add(struct intervals *intervals, wide_time start, wide_time end);

/* Puts them in order and apart. False on failure. */
bool intervals_merge(struct intervals *intervals, const struct stopper *stopper,
                     struct failure *failure);

/* Of intervals that are merged: how long they are, and how long two of them are at
** once. */
wide_time intervals_length(const struct intervals *intervals);
wide_time intervals_common(const struct intervals *a, const struct intervals *b);

void intervals_clear(struct intervals *intervals);

#endif
