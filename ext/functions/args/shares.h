/*
** The work of one event, divided among its device work in proportion to durations: rule F3.
*/
#ifndef TRACEDIFF_SHARES_H
#define TRACEDIFF_SHARES_H

#include <stdint.h>

#include "base/wide.h"

struct shares {
    wide_time total, done; /* ns; of device work */
    int unit;              /* 2^unit ns, so that products fit */
};

void shares_begin(struct shares *shares, wide_time total);

/* The share of the next device work in a number; NUMBER_NONE of that. */
int64_t shares_of(const struct shares *shares, int64_t dur, int64_t whole);

/* Goes on after device work. */
void shares_next(struct shares *shares, int64_t dur);

#endif
