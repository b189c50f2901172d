/*
** Bins of a histogram of times:
**
** 1. one for negative values, one for 0, one for values below 0.001, one for 1e9 and more;
** 2. from 0.001 to 1e9, three for each decade: 1 to 2, 2 to 5, 5 to 10. A bin includes its lower
**    bound, not its upper bound.
*/
#ifndef TRACEDIFF_BINS_H
#define TRACEDIFF_BINS_H

#include <stddef.h>
#include <stdint.h>

#include "writer.h"

enum {
    BIN_NEGATIVE,
    BIN_ZERO,
    BIN_TINY, /* positive, below the first decade */
    BIN_FIRST,
    BIN_DECADES = 12,
    BIN_LARGE = BIN_FIRST + 3 * BIN_DECADES, /* from the end of the last decade on */
    BINS
};

struct bins {
    int64_t counts[BINS];
};

/* NaNs are left out. */
void bins_count(struct bins *bins, const double *values, size_t count);

void bin_name(struct writer *to, int bin);

#endif
