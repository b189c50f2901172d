/*
** Divides the work of one event among its device work in proportion to durations: rule F3.
*/
#ifndef TRACEDIFF_SHARES_H
#define TRACEDIFF_SHARES_H

#include <stdint.h>

#include "base/wide.h"

struct shares {
    wide_time total, done; /* ns of device work */
    int unit;              /* times are divided by 2^unit ns, so that products do not overflow */
};

void shares_begin(struct shares *shares, wide_time total);

/* Returns the share of the next device work in `whole`; NUMBER_NONE if `whole` is. */
int64_t shares_of(const struct shares *shares, int64_t dur, int64_t whole);

/* Moves on to the next device work. */
void shares_next(struct shares *shares, int64_t dur);

#endif
