/*
** Whether two samples differ, and by how much: the tests of Mann and Whitney, Hodges and Lehmann,
** Student and Welch. All are two-sided, and differences are test minus control.
**
** 1. p-values and intervals are those of R 4.2: wilcox.test(test, control, conf.int = TRUE) and
**    t.test(test, control). With fewer than 50 values on each side the first uses the exact
**    distribution of U, else a normal distribution, corrected for ties and continuity.
** 2. The exact distribution is that of all orders of the values, of which some may be equal, and p
**    the part of them whose U is as far from its mean. (R: not if any are equal; its package coin
**    has these p.)
** 3. The shift is the median of all differences of a test and a control value, and its interval
**    ends at two of these differences. They are those of the exact distribution if no two values
**    are equal; else R searches for them by uniroot, to 1e-4 in whatever unit, and this finds them
**    exactly, as R does with tol.root = 1e-13.
** 4. The level of an interval of the shift is 0.95 or, with very few values, what even the least
**    and the greatest difference enclose: 1 - 2 / C(n + m, n). (R says 0.95 down to 0.925.)
** 5. If all values are equal, p of U is 1. (R: not a number.)
** 6. If the values of each side are equal, t has no value, nor have p and interval. (R: an error.)
** 7. A difference is rounded to a double.
*/
#ifndef TRACEDIFF_STATISTICS_H
#define TRACEDIFF_STATISTICS_H

#include "base/sort.h"

/* Holds squares of values near 1e308, and 64-bit integers exactly. Where long double is no
** wider than double, integers are exact up to 53 bits. Aligned to 8 bytes because SQLite's
** memory has no larger alignment. */
typedef long double wide_number __attribute__((aligned(8)));

/* Finite values, of which none is -0. */
struct sample {
    wide_number *values; /* owned */
    size_t count, capacity;
};

/* False if out of memory. */
bool sample_add(struct sample *sample, wide_number value);

/* Sorts the values, so that no result depends on their order. False on failure. */
bool sample_sort(struct sample *sample, const struct stopper *stopper, struct failure *failure);

void sample_clear(struct sample *sample);

struct mann_whitney {
    double u; /* pairs in which the test value is greater; pairs of equal values count half */
    double p;
    bool exact;
};

struct shift {
    double shift, low, high, level;
};

struct t_test {
    bool known; /* false: too few values (t_tests) or rule 6; the rest is then 0 */
    double t, df, p, low, high;
};

struct t_tests {
    double control_mean, test_mean; /* 0 without a value */
    double diff;                    /* 0 unless both sides have a value */
    double deviation;               /* of both sides' values around their means; 0 below three */
    struct t_test pooled;           /* Student's: at least one value per side, and three in all */
    struct t_test welch;            /* at least two values per side */
};

/* Both samples are sorted and have a value. False on failure. */
bool mann_whitney(const struct sample *control, const struct sample *test,
                  struct mann_whitney *result, const struct stopper *stopper,
                  struct failure *failure);

/* The same. Takes no memory for the differences, and n + m steps for each bit of four of them. */
bool shift_between(const struct sample *control, const struct sample *test, struct shift *result,
                   const struct stopper *stopper, struct failure *failure);

/* Both samples are sorted. The intervals are those of 95 %. False on failure. */
bool t_tests(const struct sample *control, const struct sample *test, struct t_tests *result,
             const struct stopper *stopper, struct failure *failure);

#endif
