#include "distributions.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"

static const long double pi = 3.141592653589793238462643383279502884L;
const long double normal_95 = 1.959963984540054235524594430520551527L;

long double normal_tails(long double z)
{
    return erfcl(fabsl(z) / sqrtl(2));
}

/* Returns Gamma(a + 1/2) / Gamma(a) for a > 0. The error of the asymptotic series is below a^-7 /
** 500, and gamma(a + 1) = a gamma(a) leads to a large a. lgammal() is avoided because its symbol
** version is newer than old glibcs. */
static long double gamma_ratio(long double a)
{
    long double factor = 1;
    for (; a < 200; a++)
        factor *= a / (a + 0.5L);
    long double r = 1 / a;
    long double series =
        1 + r * (-1 / 8.0L +
                 r * (1 / 128.0L +
                      r * (5 / 1024.0L + r * (-21 / 32768.0L +
                                              r * (-399 / 262144.0L + r * (869 / 4194304.0L))))));
    return factor * sqrtl(a) * series;
}

/* Evaluates the continued fraction of the incomplete beta function I_x(a, b) by Lentz's method
** (Press et al., Numerical Recipes, 6.4). It converges quickly for x < (a + 1) / (a + b + 2). */
static long double beta_fraction(long double a, long double b, long double x)
{
    enum { MOST_TERMS = 1000000 };
    const long double least = LDBL_MIN / LDBL_EPSILON;
    long double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabsl(d) < least ? least : d);
    long double value = d;
    for (int i = 1; i < MOST_TERMS; i++) {
        long double m = i, change;
        long double terms[2] = {m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                                -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))};
        for (int odd = 0; odd < 2; odd++) {
            d = 1 + terms[odd] * d;
            c = 1 + terms[odd] / c;
            d = 1 / (fabsl(d) < least ? least : d);
            c = fabsl(c) < least ? least : c;
            change = c * d;
            value *= change;
        }
        if (fabsl(change - 1) <= 2 * LDBL_EPSILON)
            break;
    }
    return value;
}

/* The result is I_x(df / 2, 1/2) with x = df / (df + t^2). */
long double student_tails(long double t, long double df)
{
    long double a = df / 2, b = 0.5L, r = t * t / df, x = 1 / (1 + r), y = r / (1 + r);
    if (r == 0)
        return 1;
    if (isinf(r))
        return 0;
    long double front = expl(-a * log1pl(r)) * sqrtl(y) * gamma_ratio(a) / sqrtl(pi);
    if (x < (a + 1) / (a + b + 2))
        return front * beta_fraction(a, b, x) / a;
    return 1 - front * beta_fraction(b, a, y) / b;
}

/* Uses Newton's method from the left. The tails are convex for t > 0, so it never overshoots. */
long double student_beyond(long double tails, long double df)
{
    enum { MOST_STEPS = 200 };
    long double density_at_0 = gamma_ratio(df / 2) / sqrtl(pi * df), t = 0;
    for (int i = 0; i < MOST_STEPS; i++) {
        long double density = density_at_0 * expl(-(df + 1) / 2 * log1pl(t * t / df));
        long double step = (student_tails(t, df) - tails) / (2 * density);
        t += step;
        if (fabsl(step) <= t * 16 * LDBL_EPSILON)
            break;
    }
    return t;
}

/* The counts are the coefficients of the Gaussian binomial, the product of (1 - q^(m + i)) / (1 -
** q^i) over i = 1 to n. All partial products have integer coefficients, at most C(98, 49) <
** 2^95. */
wide_time *ranks_count(size_t n, size_t m)
{
    size_t most = n * m;
    wide_time *counts = memory_zeroed(most + 1, sizeof *counts);
    if (!counts)
        return NULL;
    counts[0] = 1;
    for (size_t i = 1; i <= n; i++) {
        for (size_t u = most; u >= m + i; u--)
            counts[u] -= counts[u - m - i];
        for (size_t u = i; u <= most; u++)
            counts[u] += counts[u - i];
    }
    return counts;
}

/* Adds the orders in which `chosen` of the next `size` equal values belong to the side of m. Before
** them come `before` values of that side and `below` values of the other. */
static void add_group(wide_time *to, const wide_time *from, size_t before, size_t below,
                      size_t chosen, size_t size)
{
    wide_time ways = 1; /* C(size, chosen) */
    for (size_t i = 1; i <= chosen; i++)
        ways = ways * (wide_time)(size - i + 1) / (wide_time)i;
    to += chosen * (2 * below + size - chosen);
    for (size_t twice_u = 0; twice_u <= 2 * before * below; twice_u++)
        to[twice_u] += ways * from[twice_u];
}

wide_time *tied_ranks_count(size_t n, size_t m, const unsigned char *sizes, size_t groups)
{
    /* One row for each number of values taken from the side of m: the counts by twice U. Rows are
    ** updated from the last to the first, each from earlier rows. */
    size_t width = 2 * n * m + 1, seen = 0;
    wide_time *rows = memory_zeroed((m + 1) * width, sizeof *rows);
    if (!rows)
        return NULL;
    rows[0] = 1;
    for (size_t i = 0; i < groups; seen += sizes[i++])
        for (size_t k = m; k > 0; k--)
            for (size_t chosen = 1; chosen <= sizes[i] && chosen <= k; chosen++) {
                size_t before = k - chosen;
                if (before <= seen && seen + sizes[i] <= n + k)
                    add_group(rows + k * width, rows + before * width, before, seen - before,
                              chosen, sizes[i]);
            }
    memmove(rows, rows + m * width, width * sizeof *rows);
    return rows;
}
