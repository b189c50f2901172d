#include "power.h"

#include <math.h>
#include <string.h>

#include "file/columns.h"
#include "distributions.h"

static const long double wanted_power = 0.8L, tails_of_test = 0.05L;

/* Returns the probability that a noncentral t exceeds `limit`: the normal probability averaged over
** the distribution of the estimated deviation, by Simpson's rule. Divides the density by its
** sum. */
static long double noncentral_tail(long double limit, long double shift, long double df)
{
    enum { PARTS = 600 };
    long double width = 9 / sqrtl(2 * df), from = fmaxl(0, 1 - width), to = 1 + width;
    long double sum = 0, all = 0;
    for (int i = 0; i <= PARTS; i++) {
        long double s = from + (to - from) * i / PARTS;
        long double density = df == 1 ? 1 : s > 0 ? expl((df - 1) * (logl(s))) : 0;
        density *= expl(df * (1 - s * s) / 2) * (i == 0 || i == PARTS ? 1 : i % 2 ? 4 : 2);
        sum += density * erfcl((limit * s - shift) / sqrtl(2)) / 2;
        all += density;
    }
    return sum / all;
}

long double power_shift(size_t df)
{
    size_t kept = df < MOST_RUNS ? df : MOST_RUNS; /* changes by less than 0.1 % beyond */
    long double limit = student_beyond(tails_of_test, (long double)kept), low = 0,
                high = 4 * limit + 4;
    for (int i = 0; i < 60; i++) {
        long double middle = (low + high) / 2;
        if (noncentral_tail(limit, middle, (long double)kept) < wanted_power)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* Returns the smallest distance, in deviations, that `runs` runs per side can show. */
static long double reach_of(struct power *power, size_t runs)
{
    long double df = (long double)(2 * runs - 2);
    if (power->reach[runs] <= 0)
        power->reach[runs] = (student_beyond(tails_of_test / (long double)power->rows, df) +
                              student_beyond(2 * (1 - wanted_power), df)) *
                             sqrtl(2 / (long double)runs);
    return power->reach[runs];
}

int64_t power_runs(struct power *power, size_t rows, double deviation, double distance)
{
    size_t low = 3, high = MOST_RUNS;
    if (power->rows != rows)
        memset(power->reach, 0, sizeof power->reach);
    power->rows = rows;
    if (reach_of(power, high) * deviation > distance)
        return NUMBER_NONE;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (reach_of(power, middle) * deviation > distance)
            low = middle + 1;
        else
            high = middle;
    }
    return (int64_t)low;
}
