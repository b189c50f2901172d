/*
** The FLOPs and bytes of device work: those of the operators that own it, by rules F1 to F6.
*/
#ifndef TRACEDIFF_KERNEL_WORK_H
#define TRACEDIFF_KERNEL_WORK_H

#include "analysis/sums/operator_work.h"
#include "sqlite/table_function.h"
#include "trace/trace.h"

/* By row; the share of device work, unknown for all other rows. The caller frees it. NULL on
** failure, with call->failure filled. */
struct work *kernel_work_find(struct call *call, const struct trace_member *member);

#endif
