/*
** The common factors of the two sides that a call has opened, which are no job.
**
** `device` and `host` are sums of these sides, by device_sums_find() and host_sums_find(), which
** the names of the items belong to. With NULL they are found, and what is found has no items.
*/
#ifndef TRACEDIFF_CALL_FACTORS_H
#define TRACEDIFF_CALL_FACTORS_H

#include "analysis/answer/clock_factor.h"
#include "analysis/answer/host_factor.h"
#include "functions/call/call_trace.h"

/* On failure, fills call->failure, and nothing is left to clear. */
bool call_clock_factor_find(struct call *call, const struct call_trace *opened,
                            const struct keyed *device, struct clock_factor *found);

/* The same of the host. */
bool call_host_factor_find(struct call *call, const struct call_trace *opened,
                           const struct keyed *host, struct host_factor *found);

#endif
