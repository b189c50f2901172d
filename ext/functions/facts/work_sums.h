/*
** The work of the two sides that a call has opened, as an answer asks for it.
*/
#ifndef TRACEDIFF_WORK_SUMS_H
#define TRACEDIFF_WORK_SUMS_H

#include "analysis/answer/work_keys.h"
#include "functions/call/call_keyed.h"

struct device_wish {
    bool grids; /* else the last two keys are none, and args of kernels are not read */
    bool runs;  /* with executions by the keys of evidence */
    bool work;  /* with these, FLOPs and bytes */
};

/* Sums up device work by enum device_key. On failure, fills call->failure; to be cleared then, too.
** Names are stable ones (trace_stable_name). */
bool device_sums_find(struct call *call, const struct call_trace *opened,
                      const struct device_wish *wish, struct keyed *sums);

/* The same of host events by enum host_key. */
bool host_sums_find(struct call *call, const struct call_trace *opened, struct keyed *sums);

#endif
