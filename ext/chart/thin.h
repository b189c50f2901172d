/*
** Reduces the points of a long line without changing how it looks.
**
** 1. The line is cut into buckets of equal width. If its x decreases anywhere, the buckets have
**    equally many points instead.
** 2. Each bucket keeps its first, lowest, highest and last point, in their order. So no extreme is
**    lost, and steps stay where they are.
*/
#ifndef TRACEDIFF_THIN_H
#define TRACEDIFF_THIN_H

#include <stddef.h>

/* Thins in place. Returns how many points are left, at most four per bucket. NaNs are not
** allowed. */
size_t thin(double *x, double *y, size_t count, size_t buckets);

#endif
