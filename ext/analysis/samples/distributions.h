/*
** Probability distributions, as precise as long double.
*/
#ifndef TRACEDIFF_DISTRIBUTIONS_H
#define TRACEDIFF_DISTRIBUTIONS_H

#include <stddef.h>

#include "base/wide.h"

/* two-sided 5 % quantile of the normal distribution */
extern const long double normal_95;

/* Returns P(|Z| >= |z|) for a standard normal Z. */
long double normal_tails(long double z);

/* Returns P(|T| >= |t|) for Student's T with df > 0 degrees of freedom. */
long double student_tails(long double t, long double df);

/* Returns the t that |T| exceeds with probability `tails`, between 0 and 1. `df` is at least 1. */
long double student_beyond(long double tails, long double df);

/* Counts, for each U, the orders of n and m distinct values that give it, out of C(n + m, n).
** Returns n * m + 1 counts, which the caller frees; NULL if out of memory. Exact for n, m <
** MANY_RANKS. */
enum { MANY_RANKS = 50 };
wide_time *ranks_count(size_t n, size_t m);

/* Does the same for groups of equal values, whose sizes are given in ascending order of value. The
** counts are for U = 0, 1/2, 1, ... n * m, because a pair of equal values adds 1/2. Takes at most
** about (n + m) ^ 4 / 24 steps. */
wide_time *tied_ranks_count(size_t n, size_t m, const unsigned char *sizes, size_t groups);

#endif
