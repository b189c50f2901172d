/*
** Whether two samples differ, and by how much: the tests of Mann and Whitney, Hodges and Lehmann,
** Student and Welch. All are two-sided, and differences are test minus control.
**
** 1. p-values and intervals equal R 4.2's: wilcox.test(test, control, conf.int = TRUE) and
**    t.test(test, control). With fewer than 50 values on each side, the first uses the exact
**    distribution of U, otherwise a normal distribution with corrections for ties and continuity.
** 2. The exact distribution covers all orders of the values, also if some are equal, and p is the
**    fraction of orders whose U is at least as far from the mean. (R has no exact p with ties; its
**    package coin gives this p.)
** 3. The shift is the median of all differences between a test and a control value, and its
**    interval ends at two of these differences. If no values are equal, the exact distribution
**    chooses the two. Otherwise R searches for them by uniroot, to 1e-4 in any unit, and this code
**    finds them exactly, like R with tol.root = 1e-13.
** 4. The level of the shift's interval is 0.95. With very few values it is the level between the
**    least and the greatest difference: 1 - 2 / C(n + m, n). (R reports 0.95 down to 0.925.)
** 5. If all values are equal, U has p = 1. (R: NaN.)
** 6. If the values of each side are equal, t, p and the interval are undefined. (R: an error.)
** 7. Differences are rounded to double.
*/
#ifndef TRACEDIFF_STATISTICS_H
#define TRACEDIFF_STATISTICS_H

#include "base/sort.h"

/* Holds squares of values near 1e308, and 64-bit integers exactly. Where long double is no wider
** than double, integers are exact up to 53 bits. Aligned to 8 bytes because SQLite's memory has no
** larger alignment. */
typedef long double wide_number __attribute__((aligned(8)));

/* finite values, never -0 */
struct sample {
    wide_number *values; /* owned */
    size_t count, capacity;
};

/* Returns false if out of memory. */
bool sample_add(struct sample *sample, wide_number value);

/* Sorts the values, so that no result depends on their order. False on failure. */
bool sample_sort(struct sample *sample, const struct stopper *stopper, struct failure *failure);

void sample_clear(struct sample *sample);

struct mann_whitney {
    double u; /* pairs in which the test value is greater; equal pairs count half */
    double p;
    bool exact;
};

struct shift {
    double shift, low, high, level;
};

struct t_test {
    bool known; /* false: too few values (see t_tests) or rule 6; all else is then 0 */
    double t, df, p, low, high;
};

struct t_tests {
    double control_mean, test_mean; /* 0 without values */
    double diff;                    /* 0 unless both sides have values */
    double deviation;               /* of values around the mean of their side; 0 below three */
    struct t_test pooled;           /* Student's: at least one value per side and three in total */
    struct t_test welch;            /* at least two values per side */
};

/* Both samples must be sorted and not empty. False on failure. */
bool mann_whitney(const struct sample *control, const struct sample *test,
                  struct mann_whitney *result, const struct stopper *stopper,
                  struct failure *failure);

/* Has the same conditions. Stores no differences; takes n + m steps per bit for four of them. */
bool shift_between(const struct sample *control, const struct sample *test, struct shift *result,
                   const struct stopper *stopper, struct failure *failure);

/* Both samples must be sorted. Intervals are at 95 %. False on failure. */
bool t_tests(const struct sample *control, const struct sample *test, struct t_tests *result,
             const struct stopper *stopper, struct failure *failure);

#endif
