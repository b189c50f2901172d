/*
** The FLOPs and bytes of device work, by rules F1 to F6: a share of the operator that owns it.
*/
#ifndef TRACEDIFF_KERNEL_WORK_H
#define TRACEDIFF_KERNEL_WORK_H

#include "analysis/sums/operator_work.h"
#include "sqlite/table_function.h"
#include "trace/trace.h"

/* Returns the share of each row of device work; all other rows are unknown. The caller frees it.
** NULL on failure, with call->failure filled. */
struct work *kernel_work_find(struct call *call, const struct trace_member *member);

/* For callers that read other args of the file in the same pass: the keys to read. For each key,
** read the rows of kernel_work_args() that are not NAME_NONE, and set them to ids in `texts`. */
enum work_arg { WORK_SHAPES, WORK_TYPES, WORK_VALUES, WORK_ARGS };
extern const char *const kernel_work_keys[WORK_ARGS];

/* Returns NULL on failure, with call->failure filled. */
struct kernel_work *kernel_work_begin(struct call *call, const struct trace_member *member);
uint32_t *const *kernel_work_args(const struct kernel_work *work);

/* Like kernel_work_find(), from the args that the caller read. */
struct work *kernel_work_end(struct kernel_work *work, const struct names *texts);

/* After kernel_work_end(): returns the row of the device work at index `i` that an operator owns,
** with the types of the operator's inputs from its args, or NULL. ROW_NONE after the last one. */
uint32_t kernel_work_owned(const struct kernel_work *work, size_t i, const struct name **types);

/* NULL is allowed. */
void kernel_work_free(struct kernel_work *work);

#endif
