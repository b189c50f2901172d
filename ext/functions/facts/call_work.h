/*
** Operators and kernels that run more or less often on one of the opened sides of a call: L5.
*/
#ifndef TRACEDIFF_CALL_WORK_H
#define TRACEDIFF_CALL_WORK_H

#include "analysis/counts/run_changes.h"
#include "functions/call/call_trace.h"

/* On failure, fills call->failure and leaves nothing to clear. */
bool call_work_find(struct call *call, const struct call_trace *opened,
                    struct run_changes *changes);

#endif
