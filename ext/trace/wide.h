/*
** Times that may need more than 64 bits: sums of many, differences of any two, and fractions.
*/
#ifndef TRACEDIFF_WIDE_H
#define TRACEDIFF_WIDE_H

#include <stdint.h>

/* aligned(8), because SQLite aligns memory to 8 bytes only. */
__extension__ typedef __int128 wide_time __attribute__((aligned(8)));

/* Sums are calculated in ns and converted to us here, for output. */
static inline double microseconds(wide_time nanoseconds)
{
    int64_t narrow = (int64_t)nanoseconds; /* converts faster, to the same double */
    return (narrow == nanoseconds ? (double)narrow : (double)nanoseconds) / 1000.0;
}

/* us: the total divided by the number of parts. */
static inline double mean_microseconds(wide_time nanoseconds, int64_t parts)
{
    return (double)nanoseconds / (1000.0 * (double)parts);
}

/* us: the mean of test minus the mean of control, exact up to one rounding. */
static inline double mean_difference(wide_time control, int64_t control_parts, wide_time test,
                                     int64_t test_parts)
{
    return (double)(test * control_parts - control * test_parts) /
           (1000.0 * (double)control_parts * (double)test_parts);
}

#endif
