/*
** The number of runs it takes to see a difference by Student's test.
*/
#ifndef TRACEDIFF_POWER_H
#define TRACEDIFF_POWER_H

#include <stddef.h>
#include <stdint.h>

enum { MOST_RUNS = 1000 };

/* cached results; zeroed at first */
struct power {
    size_t rows;
    long double reach[MOST_RUNS + 1]; /* by runs per side, for `rows`; 0: not computed yet */
};

/* Returns the shift, in standard errors of the difference, that a two-sided 5 % test detects with
** probability 0.8. Counts only the tail on its own side, like R's power.t.test(strict = FALSE). */
long double power_shift(size_t df);

/* Returns the runs per side (at least 3) that detect, with probability 0.8, a logarithm `distance`
** away from the floor. `deviation` is the deviation of one run; the test is one-sided at 2.5 % /
** `rows`. NUMBER_NONE if MOST_RUNS are too few. */
int64_t power_runs(struct power *power, size_t rows, double deviation, double distance);

#endif
