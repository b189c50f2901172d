/*
** Where the mean of a series changes: E-divisive (Matteson and James, 2014) with a t-test in place
** of its permutations (Fleming et al., "Hunter", 2023), as Apache Otava 0.8 has it. Nothing is
** random.
**
** 1. A window of `window` values goes over the series; the next begins half a window later, or at
**    the last split of this one if that is later. In a window, and then in the pieces it is split
**    into, the split `at` is that which, with any `end`, has the greatest energy statistic n m / (n
**    + m) (2 E|X - Y| - E|X - X'| - E|Y - Y'|) of X = [start, at) and Y = [at, end), which have at
**    least two values each. It is a weak change if Student's p of the two whole pieces is at most
**    10 significance (2 significance from 0.05 on, significance from 0.5 on).
** 2. All weak changes cut the series. The one with the greatest p is dropped until all are below
**    `significance`, and the least one while it is below `min_pct`, a part of the smaller of the
**    two means. p and means are then those of the pieces around a change: from the change before it
**    to the one after it.
** 3. p is the greatest of three: of the two pieces, of them without the one value of the first that
**    speaks most for the change, and without that of the second. So an outlier is not a change,
**    wherever it is, and two values are the least that a change needs. It is Student's p, which
**    does not know that the best of many splits was chosen: `significance` is a threshold.
** 4. If the values of each piece are equal, p is 0.
** 5. Otava differs. A: it takes pieces of one value. B: it divides squares by n, not n - 1, so few
**    values have too small a p. C: it has no rule 3. D: it ends a window at the first split that is
**    not weak, so the noise of one piece hides a change in another. E: after it drops a change, it
**    computes the next two anew, but not the one before. tests/answers/test_changes.py names series
**    that show each.
*/
#ifndef TRACEDIFF_CHANGES_H
#define TRACEDIFF_CHANGES_H

#include "statistics.h"

enum { LEAST_PIECE = 2 };

struct change_options {
    double significance; /* above 0, below 1 */
    double min_pct;      /* percent; at least 0 */
    size_t window;       /* at least 2 LEAST_PIECE */
};

struct change {
    size_t start, at, end; /* the pieces are [start, at) and [at, end) of the series */
    double before, after;  /* their means */
    double diff, p;
};

struct changes {
    struct change *items; /* by `at`; owned */
    size_t count;
};

/* `series` is in order, and again afterwards. Takes window^2 steps for each split, and memory for
** the window. False on failure; there is nothing to free then. */
bool find_changes(struct sample *series, const struct change_options *options,
                  struct changes *changes, const struct stopper *stopper, struct failure *failure);

#endif
