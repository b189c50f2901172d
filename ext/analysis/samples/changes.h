/*
** Finds where the mean of a series changes: E-divisive (Matteson and James, 2014) with a t-test in
** place of its permutations (Fleming et al., "Hunter", 2023), as in Apache Otava 0.8. Nothing is
** random.
**
** 1. A window of `window` values moves over the series. The next one begins half a window later, or
**    at the last split of this one if that is later. In a window, and then in each of its pieces,
**    the split `at` is the one with the greatest energy statistic n m / (n + m) (2 E|X - Y| - E|X -
**    X'| - E|Y - Y'|) over all `end`, for X = [start, at) and Y = [at, end), each with at least two
**    values. The split is a weak change if Student's p for the two whole pieces is at most 10
**    significance (2 significance from 0.05 on, significance from 0.5 on).
** 2. All weak changes cut the series. Then the change with the greatest p is dropped until all are
**    below `significance`, and the smallest change is dropped while it is below `min_pct` of the
**    smaller of its two means. Here p and means belong to the pieces around a change: from the
**    previous change to the next one.
** 3. p is the greatest of three: for the two pieces, for the pieces without the value of the first
**    that speaks most for the change, and without such a value of the second. So an outlier is
**    never a change, wherever it is, and a change needs at least two values. This is Student's p,
**    which ignores that the best of many splits was chosen: `significance` is a threshold.
** 4. If the values of each piece are equal, p is 0.
** 5. Otava differs. A: it allows pieces of one value. B: it divides squares by n instead of n - 1,
**    so p is too small for few values. C: it has no rule 3. D: it ends a window at the first split
**    that is not weak, so noise in one piece hides a change in another. E: after it drops a change,
**    it recomputes the next two changes, but not the previous one. tests/answers/test_changes.py
**    has a series for each.
*/
#ifndef TRACEDIFF_CHANGES_H
#define TRACEDIFF_CHANGES_H

#include "statistics.h"

enum { LEAST_PIECE = 2 };

struct change_options {
    double significance; /* between 0 and 1, exclusive */
    double min_pct;      /* percent, at least 0 */
    size_t window;       /* values; at least 2 LEAST_PIECE */
};

struct change {
    size_t start, at, end; /* indices in the series; the pieces are [start, at) and [at, end) */
    double before, after;  /* means of the pieces */
    double diff, p;
};

struct changes {
    struct change *items; /* by `at`; owned */
    size_t count;
};

/* Finds the changes of a series. Reorders values during the search, then restores their order. Each
** split takes window^2 steps; memory grows with the window. On failure there is nothing to free. */
bool find_changes(struct sample *series, const struct change_options *options,
                  struct changes *changes, const struct stopper *stopper, struct failure *failure);

#endif
