/*
** Aligns two sequences by a longest common subsequence (A16.3, A16.4).
*/
#ifndef TRACEDIFF_ALIGN_H
#define TRACEDIFF_ALIGN_H

#include <stddef.h>
#include <stdint.h>

#include "base/stopper.h"

#define ALIGN_NONE SIZE_MAX

/* An item of `a`, one of `b`, or both, which are then equal. */
struct aligned {
    size_t a, b; /* indices, or ALIGN_NONE */
};

/* Fills in `to`, which has room for both sequences, and its `count`. From the beginning on: equal
** items go together; else the item of `a` is alone if that loses nothing; else that of `b`. Takes
** time in proportion to both lengths: some 2,000 words of 64 bits an item at most. */
bool align(const uint32_t *a, size_t a_count, const uint32_t *b, size_t b_count, struct aligned *to,
           size_t *count, const struct stopper *stopper, struct failure *failure);

#endif
