/*
** How many bytes of a collective a rank has: rule W6.
*/
#ifndef TRACEDIFF_COLLECTIVE_WORK_H
#define TRACEDIFF_COLLECTIVE_WORK_H

#include "naming/collective_name.h"

/* W6: the bytes of a rank, of the numbers of elements that go in and come out; NUMBER_NONE: not
** known. */
int64_t collective_bytes(enum collective collective, int64_t in, int64_t out,
                         const struct name *dtype);

#endif
