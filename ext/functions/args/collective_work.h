/*
** The bytes of a collective on one rank: rule W6.
*/
#ifndef TRACEDIFF_COLLECTIVE_WORK_H
#define TRACEDIFF_COLLECTIVE_WORK_H

#include "naming/collective_name.h"

/* W6: returns the bytes of a rank, from the numbers of input and output elements; NUMBER_NONE:
** unknown. */
int64_t collective_bytes(enum collective collective, int64_t in, int64_t out,
                         const struct name *dtype);

#endif
