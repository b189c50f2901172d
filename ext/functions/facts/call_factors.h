/*
** The common factors of the two opened sides of a call, which must not be jobs.
**
** `sums` has the sums of these sides, from device_sums_find() with grids for the clock, and from
** host_sums_find() for the host. The items' names belong to it. If it is NULL, the sums are found
** here, and the result has no items.
*/
#ifndef TRACEDIFF_CALL_FACTORS_H
#define TRACEDIFF_CALL_FACTORS_H

#include "analysis/answer/factors.h"
#include "functions/call/call_trace.h"

/* On failure, fills call->failure and leaves nothing to clear. */
bool call_clock_factor_find(struct call *call, const struct call_trace *opened,
                            const struct keyed *sums, struct common_factor *found);
bool call_host_factor_find(struct call *call, const struct call_trace *opened,
                           const struct keyed *sums, struct common_factor *found);

#endif
