/*
** A long line with fewer points that looks the same.
**
** 1. The line is cut into buckets of equal width; of one that goes back, into buckets of
**    equally many points.
** 2. Of each bucket the first, the least, the greatest and the last point stay, in their
**    order: so no extreme is lost, and steps stay where they are.
*/
#ifndef TRACEDIFF_THIN_H
#define TRACEDIFF_THIN_H

#include <stddef.h>

/* Thins in place; how many points are left, at most four a bucket. No number is a NaN. */
size_t thin(double *x, double *y, size_t count, size_t buckets);

#endif
