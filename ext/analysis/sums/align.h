/*
** Aligns two sequences by a longest common subsequence (A16.3, A16.4).
*/
#ifndef TRACEDIFF_ALIGN_H
#define TRACEDIFF_ALIGN_H

#include <stddef.h>
#include <stdint.h>

#include "base/stopper.h"

#define ALIGN_NONE SIZE_MAX

/* an item of `a`, an item of `b`, or two equal ones */
struct aligned {
    size_t a, b; /* indices, or ALIGN_NONE */
};

/* Fills `to`, which needs room for both sequences, and its `count`. From the start on, equal items
** are paired; otherwise the item of `a` stays alone if that loses no pair; otherwise the item of
** `b` does. Time is proportional to both lengths: at most about 2,000 64-bit words per item. */
bool align(const uint32_t *a, size_t a_count, const uint32_t *b, size_t b_count, struct aligned *to,
           size_t *count, const struct stopper *stopper, struct failure *failure);

#endif
