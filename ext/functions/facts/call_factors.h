/*
** The common factors of the two sides that a call has opened, which are no job.
**
** `sums` are those of these sides, which the names of the items belong to: for the clock by
** device_sums_find() with grids, for the host by host_sums_find(). With NULL they are found, and
** what is found has no items.
*/
#ifndef TRACEDIFF_CALL_FACTORS_H
#define TRACEDIFF_CALL_FACTORS_H

#include "analysis/answer/factors.h"
#include "functions/call/call_trace.h"

/* On failure, fills call->failure, and nothing is left to clear. */
bool call_clock_factor_find(struct call *call, const struct call_trace *opened,
                            const struct keyed *sums, struct common_factor *found);
bool call_host_factor_find(struct call *call, const struct call_trace *opened,
                           const struct keyed *sums, struct common_factor *found);

#endif
