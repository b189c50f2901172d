#include "statistics.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "distributions.h"

bool sample_add(struct sample *sample, wide_number value)
{
    if (!MEMORY_GROW(sample->values, sample->capacity, sample->count + 1))
        return false;
    sample->values[sample->count++] = value;
    return true;
}

static int value_order(const void *a, const void *b)
{
    wide_number x = *(const wide_number *)a, y = *(const wide_number *)b;
    return COMPARE(x, y);
}

bool sample_sort(struct sample *sample, const struct stopper *stopper, struct failure *failure)
{
    return sort_items(sample->values, sample->count, sizeof *sample->values, value_order, stopper,
                      failure);
}

void sample_clear(struct sample *sample)
{
    memory_free(sample->values);
    memset(sample, 0, sizeof *sample);
}

/* results from ranking the values of two samples */
struct ranks {
    wide_time twice_u; /* twice the u of struct mann_whitney */
    unsigned char sizes[2 * MANY_RANKS]; /* of groups of equal values; unused for many values */
    size_t groups;
    bool ties;         /* two values are equal, on one side or across both */
    wide_number all;   /* sum of k^3 - k over groups of k equal values, both sides together */
    wide_number own;   /* the same sum for each side alone, added up */
};

static wide_number cube(size_t k)
{
    wide_number x = (wide_number)k;
    return (x - 1) * x * (x + 1);
}

static wide_time apart(wide_time a, wide_time b)
{
    return a > b ? a - b : b - a;
}

/* Returns whether to use the exact distribution of U. */
static bool is_few(size_t n, size_t m)
{
    return n < MANY_RANKS && m < MANY_RANKS;
}

static bool rank_values(const struct sample *control, const struct sample *test,
                        struct ranks *ranks, const struct stopper *stopper, struct failure *failure)
{
    const struct sample *sides[2] = {control, test};
    size_t at[2] = {0, 0}, round = 0;
    memset(ranks, 0, sizeof *ranks);
    while (at[0] < control->count || at[1] < test->count) {
        size_t equal[2] = {0, 0}, below = at[0];
        wide_number least;
        if (!stopper_goes_on(stopper, round++, failure))
            return false;
        if (at[0] == control->count)
            least = test->values[at[1]];
        else if (at[1] == test->count || control->values[at[0]] < test->values[at[1]])
            least = control->values[at[0]];
        else
            least = test->values[at[1]];
        for (int side = 0; side < 2; side++)
            for (; at[side] < sides[side]->count && sides[side]->values[at[side]] == least;
                 at[side]++)
                equal[side]++;
        if (is_few(control->count, test->count))
            ranks->sizes[ranks->groups++] = (unsigned char)(equal[0] + equal[1]);
        ranks->twice_u += (wide_time)equal[1] * (wide_time)(2 * below + equal[0]);
        ranks->ties = ranks->ties || equal[0] + equal[1] > 1;
        ranks->all += cube(equal[0] + equal[1]);
        ranks->own += cube(equal[0]) + cube(equal[1]);
    }
    return true;
}

/* Returns the standard deviation of U. `ties` sums k^3 - k over groups of k equal values. */
static wide_number deviation_of_u(size_t count, size_t other, wide_number ties)
{
    wide_number n = (wide_number)count, m = (wide_number)other, all = n + m;
    return sqrtl(n * m / 12 * (all + 1 - ties / (all * (all - 1))));
}

/* Sets `p` to the fraction of all orders whose U is at least as far from the mean. */
static bool find_exact(size_t n, size_t m, const struct ranks *ranks, double *p,
                       struct failure *failure)
{
    wide_time pairs = (wide_time)n * (wide_time)m; /* twice the mean */
    wide_time step = ranks->ties ? 1 : 2, tails = 0, total = 0;
    wide_time *counts = ranks->ties ? tied_ranks_count(n, m, ranks->sizes, ranks->groups)
                                    : ranks_count(n, m);
    if (!counts)
        return failure_memory(failure);
    for (wide_time twice_u = 0; twice_u <= 2 * pairs; twice_u += step) {
        wide_time count = counts[twice_u / step];
        tails += apart(twice_u, pairs) >= apart(ranks->twice_u, pairs) ? count : 0;
        total += count;
    }
    memory_free(counts);
    *p = (double)((wide_number)tails / (wide_number)total);
    return true;
}

bool mann_whitney(const struct sample *control, const struct sample *test,
                  struct mann_whitney *result, const struct stopper *stopper,
                  struct failure *failure)
{
    size_t n = control->count, m = test->count;
    struct ranks ranks;
    if (!rank_values(control, test, &ranks, stopper, failure))
        return false;
    *result = (struct mann_whitney){.u = (double)((wide_number)ranks.twice_u / 2), .p = 1};
    result->exact = is_few(n, m);
    if (result->exact)
        return find_exact(n, m, &ranks, &result->p, failure);
    wide_number distance = (wide_number)apart(ranks.twice_u, (wide_time)n * (wide_time)m) / 2;
    if (distance > 0)
        result->p = (double)normal_tails((distance - 0.5L) / deviation_of_u(n, m, ranks.all));
    return true;
}

/* Maps doubles to integers in the same order: -0 and 0 become 0, and negatives mirror positives. */
static int64_t key_of(double number)
{
    int64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits < 0 ? INT64_MIN - bits : bits;
}

static double number_of(int64_t key)
{
    int64_t bits = key < 0 ? INT64_MIN - key : key;
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

/* Sets `*count` to the number of differences up to `limit`. False on failure. */
static bool count_differences(const struct sample *control, const struct sample *test, double limit,
                              wide_time *count, const struct stopper *stopper,
                              struct failure *failure)
{
    size_t first = 0; /* earlier control values are too small for this test value */
    *count = 0;
    for (size_t i = 0; i < test->count; i++) {
        if (!stopper_goes_on(stopper, i, failure))
            return false;
        while (first < control->count &&
               (double)(test->values[i] - control->values[first]) > limit) {
            if (!stopper_goes_on(stopper, first, failure))
                return false;
            first++;
        }
        if (first == control->count)
            break;
        *count += (wide_time)(control->count - first);
    }
    return true;
}

/* Finds the kth difference in ascending order, from 1: the least double with k of them up to it. */
static bool find_difference(const struct sample *control, const struct sample *test, wide_time k,
                            double *found, const struct stopper *stopper, struct failure *failure)
{
    double least = (double)(test->values[0] - control->values[control->count - 1]);
    double greatest = (double)(test->values[test->count - 1] - control->values[0]);
    int64_t low = key_of(least), high = key_of(greatest);
    for (int turn = 0; low < high; turn++) {
        int64_t middle = low + (int64_t)(((uint64_t)high - (uint64_t)low) / 2);
        wide_time count;
        if (turn < 2 && low <= -turn && -turn < high)
            middle = -turn; /* try 0 first; it is frequent where most values are 0 */
        if (!count_differences(control, test, number_of(middle), &count, stopper, failure))
            return false;
        if (count < k)
            low = middle + 1;
        else
            high = middle;
    }
    *found = number_of(low);
    return true;
}

/* Finds which difference begins the interval. Its mirror from the other end closes it.
** 1. Exact: the least U with at least 2.5 % up to it.
** 2. Otherwise (statistics.h, rule 3), U of the shifted samples is a step function of the shift and
**    falls by one at each difference. Between differences, only values of the same side are equal.
**    The kth difference is where the standardised U falls below the normal quantile. */
static bool find_rank(size_t n, size_t m, const struct ranks *ranks, wide_time *rank,
                      struct failure *failure)
{
    wide_time pairs = (wide_time)n * (wide_time)m, total = 0, up_to = 0;
    if (!is_few(n, m) || ranks->ties) {
        wide_number mean = (wide_number)pairs / 2;
        wide_number at =
            ceill(mean - 0.5L - (wide_number)normal_95 * deviation_of_u(n, m, ranks->own));
        *rank = at < 1 ? 1 : (wide_time)at;
        return true;
    }
    wide_time *counts = ranks_count(n, m);
    if (!counts)
        return failure_memory(failure);
    for (wide_time u = 0; u <= pairs; u++)
        total += counts[u];
    for (*rank = 0; 40 * (up_to += counts[*rank]) < total;)
        ++*rank;
    *rank += *rank == 0;
    memory_free(counts);
    return true;
}

/* Returns the confidence level by rule 4 of statistics.h. */
static double level_of(size_t n, size_t m)
{
    wide_number orders = 1; /* C(n + m, n), or any value from 40 on if it is more */
    for (size_t i = 1; i <= n && orders < 40; i++)
        orders = orders * (wide_number)(m + i) / (wide_number)i;
    return orders < 40 ? (double)(1 - 2 / orders) : 0.95;
}

bool shift_between(const struct sample *control, const struct sample *test, struct shift *result,
                   const struct stopper *stopper, struct failure *failure)
{
    size_t n = control->count, m = test->count;
    wide_time pairs = (wide_time)n * (wide_time)m, rank = 0;
    double lower = 0, upper = 0;
    struct ranks ranks;
    memset(result, 0, sizeof *result);
    bool done = rank_values(control, test, &ranks, stopper, failure) &&
                find_rank(n, m, &ranks, &rank, failure) &&
                find_difference(control, test, rank, &result->low, stopper, failure) &&
                find_difference(control, test, pairs + 1 - rank, &result->high, stopper, failure) &&
                find_difference(control, test, (pairs + 1) / 2, &lower, stopper, failure) &&
                find_difference(control, test, pairs / 2 + 1, &upper, stopper, failure);
    if (lower == upper)
        result->shift = lower; /* also if both are infinite */
    else
        result->shift = (double)(((wide_number)lower + (wide_number)upper) / 2);
    result->level = level_of(n, m);
    return done;
}

/* Mean of a sample as origin + rest, and the sum of squares around it. The origin is the least
** value, so for equal values rest and squares are 0. */
struct moments {
    wide_number count, origin, rest, squares;
};

/* Computes the moments of a sample. False on failure. */
static bool find_moments(const struct sample *sample, struct moments *it,
                         const struct stopper *stopper, struct failure *failure)
{
    wide_number error = 0; /* rounding error left in the mean */
    *it = (struct moments){.count = (wide_number)sample->count};
    if (sample->count == 0)
        return true;
    it->origin = sample->values[0];
    for (size_t i = 0; i < sample->count; i++) {
        it->rest += sample->values[i] - it->origin;
        if (!stopper_goes_on(stopper, i, failure))
            return false;
    }
    it->rest /= it->count;
    for (size_t i = 0; i < sample->count; i++) {
        wide_number off = sample->values[i] - it->origin - it->rest;
        it->squares += off * off;
        error += off;
        if (!stopper_goes_on(stopper, i, failure))
            return false;
    }
    it->squares -= error * error / it->count;
    return true;
}

static void test_t(wide_number diff, wide_number error, wide_number df, struct t_test *result)
{
    if (!(error > 0))
        return;
    wide_number t = diff / error, reach = student_beyond(0.05L, df) * error;
    *result = (struct t_test){.known = true,
                              .t = (double)t,
                              .df = (double)df,
                              .p = (double)student_tails(t, df),
                              .low = (double)(diff - reach),
                              .high = (double)(diff + reach)};
}

bool t_tests(const struct sample *control, const struct sample *test, struct t_tests *result,
             const struct stopper *stopper, struct failure *failure)
{
    struct moments a, b;
    memset(result, 0, sizeof *result);
    if (!find_moments(control, &a, stopper, failure) || !find_moments(test, &b, stopper, failure))
        return false;
    result->control_mean = (double)(a.origin + a.rest);
    result->test_mean = (double)(b.origin + b.rest);
    if (a.count == 0 || b.count == 0)
        return true;
    wide_number diff = b.origin - a.origin + (b.rest - a.rest);
    result->diff = (double)diff;
    if (a.count + b.count > 2) {
        wide_number df = a.count + b.count - 2;
        wide_number variance = (a.squares + b.squares) / df;
        result->deviation = (double)sqrtl(variance);
        test_t(diff, sqrtl(variance * (1 / a.count + 1 / b.count)), df, &result->pooled);
    }
    if (a.count > 1 && b.count > 1) {
        wide_number x = a.squares / (a.count - 1) / a.count;
        wide_number y = b.squares / (b.count - 1) / b.count;
        wide_number control_share = x / (x + y), test_share = y / (x + y);
        wide_number df = 1 / (control_share * control_share / (a.count - 1) +
                              test_share * test_share / (b.count - 1));
        test_t(diff, sqrtl(x + y), df, &result->welch);
    }
    return true;
}
