/*
** How many runs it takes to see a difference, by Student's test.
*/
#ifndef TRACEDIFF_POWER_H
#define TRACEDIFF_POWER_H

#include <stddef.h>
#include <stdint.h>

enum { MOST_RUNS = 1000 };

/* What was computed is kept. Zeroed at first. */
struct power {
    size_t rows;
    long double reach[MOST_RUNS + 1]; /* by runs per side, for `rows`; 0: not known */
};

/* The shift, in standard errors of the difference, that a two-sided test at 5 % finds with
** probability 0.8: of the tail on its side, as R's power.t.test(strict = FALSE) has it. */
long double power_shift(size_t df);

/* The runs per side, from 3, with which a difference from the floor of that many logarithms, at
** that deviation in a run, is found with probability 0.8 by a test of one side at 2.5 % divided by
** `rows`; NUMBER_NONE if MOST_RUNS are too few. */
int64_t power_runs(struct power *power, size_t rows, double deviation, double distance);

#endif
