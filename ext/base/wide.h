/*
** Times that may need more than 64 bits: sums of many, differences of any two, and fractions.
*/
#ifndef TRACEDIFF_WIDE_H
#define TRACEDIFF_WIDE_H

#include <stdint.h>

/* aligned(8), because SQLite aligns memory to 8 bytes only. */
__extension__ typedef __int128 wide_time __attribute__((aligned(8)));

/* quotient() of any integers; the divisor is below 2^72. */
double wide_quotient(wide_time dividend, wide_time divisor);

/* The double nearest to a quotient, ties to even. The divisor is positive. */
static inline double quotient(wide_time dividend, wide_time divisor)
{
    const wide_time exact = (wide_time)1 << 53; /* doubles are, up to here */
    if (-exact <= dividend && dividend <= exact && divisor <= exact)
        return (double)(int64_t)dividend / (double)(int64_t)divisor;
    return wide_quotient(dividend, divisor);
}

/* Sums are calculated in ns and converted to us here, for output. */
static inline double microseconds(wide_time nanoseconds)
{
    return quotient(nanoseconds, 1000);
}

/* us: the total divided by the number of parts. */
static inline double mean_microseconds(wide_time nanoseconds, int64_t parts)
{
    return quotient(nanoseconds, (wide_time)1000 * parts);
}

/* us: the mean of test minus the mean of control. */
static inline double mean_difference(wide_time control, int64_t control_parts, wide_time test,
                                     int64_t test_parts)
{
    return quotient(test * control_parts - control * test_parts,
                    (wide_time)1000 * control_parts * test_parts);
}

static inline wide_time wide_size(wide_time time)
{
    return time < 0 ? -time : time;
}

#endif
