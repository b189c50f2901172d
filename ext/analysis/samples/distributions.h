/*
** Probability distributions, to the precision of long double.
*/
#ifndef TRACEDIFF_DISTRIBUTIONS_H
#define TRACEDIFF_DISTRIBUTIONS_H

#include <stddef.h>

#include "base/wide.h"

/* The z beyond which, on either side, a normal distribution has 5 %. */
extern const long double normal_95;

/* The probability of |Z| >= |z| under the normal distribution. */
long double normal_tails(long double z);

/* The probability of |T| >= |t| under Student's t with df > 0 degrees of freedom. */
long double student_tails(long double t, long double df);

/* The t that is exceeded, on either side, with probability `tails`: above 0, below 1. `df` is at
** least 1. */
long double student_beyond(long double tails, long double df);

/* How many of the C(n + m, n) orders of n and m values give each U, if no two values are equal:
** n * m + 1 counts. The caller frees them. Exact for n, m < MANY_RANKS. NULL if out of memory. */
enum { MANY_RANKS = 50 };
wide_time *ranks_count(size_t n, size_t m);

/* The same if groups of so many values are equal, in ascending order: the counts of 0, 1/2, 1, ...
** n * m, of which pairs of equal values count half. Takes some (n + m) ^ 4 / 24 steps at most. */
wide_time *tied_ranks_count(size_t n, size_t m, const unsigned char *sizes, size_t groups);

#endif
