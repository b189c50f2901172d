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

/* For who reads other args of the file, too: the keys to read with them. Of each, the rows of
** kernel_work_args() that are not NAME_NONE are wanted, and are to be set to ids in `texts`. */
enum work_arg { WORK_SHAPES, WORK_TYPES, WORK_VALUES, WORK_ARGS };
extern const char *const kernel_work_keys[WORK_ARGS];

/* NULL on failure, with call->failure filled. */
struct kernel_work *kernel_work_begin(struct call *call, const struct trace_member *member);
uint32_t *const *kernel_work_args(const struct kernel_work *work);

/* As kernel_work_find(). */
struct work *kernel_work_end(struct kernel_work *work, const struct names *texts);

/* After that: row of the device work of index `i` that an operator owns, and what args say of the
** types of its inputs, or NULL; ROW_NONE after the last one. */
uint32_t kernel_work_owned(const struct kernel_work *work, size_t i, const struct name **types);

/* NULL is allowed. */
void kernel_work_free(struct kernel_work *work);

#endif
