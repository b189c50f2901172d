/*
** Bins of a histogram of times: what is below 0, what is 0, and three bins a decade, 1 to 2,
** 2 to 5, 5 to 10, each with its lower end and without its upper one, from a thousandth to
** a thousand million.
*/
#ifndef TRACEDIFF_BINS_H
#define TRACEDIFF_BINS_H

#include <stddef.h>
#include <stdint.h>

#include "writer.h"

enum {
    BIN_NEGATIVE,
    BIN_ZERO,
    BIN_TINY, /* below the first decade */
    BIN_FIRST,
    BIN_DECADES = 12,
    BIN_LARGE = BIN_FIRST + 3 * BIN_DECADES, /* from the last decade on */
    BINS
};

struct bins {
    int64_t counts[BINS];
};

/* NaNs are left out. */
void bins_count(struct bins *bins, const double *values, size_t count);

void bin_name(struct writer *to, int bin);

#endif
