/*
** Types of device work, by category and name:
**
** K1. MEMORY: copies and fills, which have the categories gpu_memcpy, gpu_memset, Memcpy and
**     Memset, or mtia_ccp_events and a name that begins with `dma`; and kernels whose names begin
**     with `__amd_rocclr_copyBuffer` or `__amd_rocclr_fillBuffer`, by which HIP copies and fills
** K2. none: events that are not device work by their category and name (T9)
** K3. COMMUNICATION: `nccl`, `rccl` or `hccl` anywhere in the name, in any case; or one of the
**     patterns below, case-sensitive, in the head. The head is the name without
**     `(anonymous namespace)::`, template arguments and parameters; the head of a mangled name
**     (`_Z`) is the whole name. `^` means: not after a lower-case letter; `_?`: an optional
**     underscore.
**     1. `^all_?reduce`, `^all_?gather`, `^all_?to_?all`, `^all2all`, `^reduce_?scatter`;
**        `AllReduce`, `AllGather`, `AllToAll`, `All2All`, `ReduceScatter`, whose capitals after
**        the first may also be lower-case
**     2. `cross_device_reduce`, `cross_device_store`, `quick_?reduce`, `^multimem_`
**     3. `A2ADispatch`, `A2ACombine`, `A2APrepareDispatch`, `A2APrepareCombine`, `^a2a_` before
**        `dispatch`, `combine`, `send` or `recv`
**     4. `ep::intranode`, `ep::internode`, with letters, digits and `_` up to `::`; mangled:
**        `ep`, digits, and either word
**     5. `EpDispatch`, `EpCombine` before a capital; `^pplx::`
**     6. `nvshmem`, `rocshmem`, `ishmem`, `symmetric_memory`, `^put_signal_kernel`,
**        `^wait_signal_kernel`
**     7. `msccl`, `oneccl`, `userbuffers`, `^hcom_`
**     8. XLA: `^all-reduce`, `^all-gather`, `^all-to-all`, `^reduce-scatter`,
**        `^collective-permute`, `^collective-broadcast`
**     Exceptions: 1 to 8 do not count if the head contains one of these, in any case: `warp`,
**     `block`, `thread`, `group`, `wave`, `cta`, `quad` or `lane` directly before
**     `_?all_?reduce` (a reduction within one GPU); `gemm` (not `fbgemm`) or `matmul`; `mm`
**     without a letter before or after it. Work that computes and communicates at once counts as
**     computation.
** K4. COMPUTATION: everything else
**
** Without a category, a name that begins with Memcpy, Memset, hipMemcpy, hipMemset, dma,
** CopyDeviceTo, CopyHostTo (XLA) or MEMCPY_ASYNC (Ascend) is MEMORY; K3 and K4 decide the others.
*/
#ifndef TRACEDIFF_KERNEL_TYPE_H
#define TRACEDIFF_KERNEL_TYPE_H

#include "file.h"

enum kernel_type { KERNEL_COMPUTATION, KERNEL_COMMUNICATION, KERNEL_MEMORY, KERNEL_NONE };

/* The name shown to users; NULL for KERNEL_NONE. */
const char *kernel_type_name(enum kernel_type type);

/* Results of K3 for earlier names. A caller that classifies many rows keeps one, because few names
** recur often. A zeroed struct is empty; it holds less than 1 MiB. */
struct kernel_types {
    struct names names;
    bool *communicates; /* by name id */
    size_t capacity;
};

/* Finds the type for a name and category. `cat` is NULL without a category; `types` is NULL to
** keep no results. Takes linear time in the name's length. If memory runs out, the result is not
** kept. */
enum kernel_type kernel_types_find(struct kernel_types *types, const char *name, size_t name_length,
                                   const char *cat, size_t cat_length);

/* Finds the type of a row with a name. */
enum kernel_type kernel_types_row(struct kernel_types *types, const struct trace_file *file,
                                  size_t row);

void kernel_types_clear(struct kernel_types *types);

/* Types of the rows of one file, by name. A zeroed struct is empty. */
struct row_types {
    struct row_type *items; /* by name id */
};

/* Finds the type of a row with a name. If memory runs out, the result is valid but not kept. */
enum kernel_type row_types_find(struct row_types *types, const struct trace_file *file, size_t row);

void row_types_clear(struct row_types *types);

#endif
