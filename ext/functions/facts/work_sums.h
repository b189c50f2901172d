/*
** The work of the two opened sides of a call, with the keys of an answer.
*/
#ifndef TRACEDIFF_WORK_SUMS_H
#define TRACEDIFF_WORK_SUMS_H

#include "analysis/answer/work_keys.h"
#include "functions/call/call_keyed.h"

struct device_wish {
    bool grids; /* fill the last two keys, which needs the args of kernels */
    bool runs;  /* count executions by the keys of evidence */
    bool work;  /* with `runs`: also sum up FLOPs and bytes */
};

/* Sums up device work by enum device_key. Names are stable (trace_stable_name). On failure, fills
** call->failure. Clear the sums in this case, too. */
bool device_sums_find(struct call *call, const struct call_trace *opened,
                      const struct device_wish *wish, struct keyed *sums);

/* The same for host events, by enum host_key. */
bool host_sums_find(struct call *call, const struct call_trace *opened, struct keyed *sums);

#endif
