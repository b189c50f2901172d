/*
** What device work does, by its category and name:
**
** K1. copies and fills, categories gpu_memcpy, gpu_memset, Memcpy, Memset, and of
**     mtia_ccp_events the names that begin with `dma`: MEMORY
** K2. what is no device work by its category and name (T9): none
** K3. COMMUNICATION: `nccl`, `rccl` or `hccl` anywhere in the name, in any case; or one of
**     these, in these letters, in the head. The head is the name without
**     `(anonymous namespace)::`, template arguments and parameters; of a mangled name
**     (`_Z`) it is the whole. `^` is: not after a small letter; `_?`: an underscore or none.
**     1. `^all_?reduce`, `^all_?gather`, `^all_?to_?all`, `^all2all`, `^reduce_?scatter`;
**        `AllReduce`, `AllGather`, `AllToAll`, `All2All`, `ReduceScatter`, the later
**        capitals also small
**     2. `cross_device_reduce`, `cross_device_store`, `quick_?reduce`, `^multimem_`
**     3. `A2ADispatch`, `A2ACombine`, `A2APrepareDispatch`, `A2APrepareCombine`,
**        `^a2a_` before `dispatch`, `combine`, `send` or `recv`
**     4. `ep::intranode`, `ep::internode`, with letters, digits and `_` up to `::`;
**        mangled `ep`, digits, and either
**     5. `EpDispatch`, `EpCombine` before a capital; `^pplx::`
**     6. `nvshmem`, `rocshmem`, `ishmem`, `symmetric_memory`, `^put_signal_kernel`,
**        `^wait_signal_kernel`
**     7. `msccl`, `oneccl`, `userbuffers`, `^hcom_`
**     But 1 to 7 do not count in a head that has, in any case, `warp`, `block`, `thread`,
**     `group`, `wave`, `cta`, `quad` or `lane` right before `_?all_?reduce` (within one
**     GPU), or `gemm` (not `fbgemm`) or `matmul`; or that has `mm` between other than
**     letters. Work that computes and communicates at once counts as computing.
** K4. else COMPUTATION
**
** Without a category, a name that begins with Memcpy, Memset, hipMemcpy, hipMemset or
** dma is MEMORY, then K3 and K4.
*/
#ifndef TRACEDIFF_KERNEL_TYPE_H
#define TRACEDIFF_KERNEL_TYPE_H

#include <stdbool.h>
#include <stddef.h>

#include "names.h"

enum kernel_type { KERNEL_COMPUTATION, KERNEL_COMMUNICATION, KERNEL_MEMORY, KERNEL_NONE };

/* As users read it; NULL for KERNEL_NONE. */
const char *kernel_type_name(enum kernel_type type);

/* What K3 says of the names of before, for whoever asks row by row: the same few names
** come again and again. Zeroed is empty; it holds less than 1 MiB. */
struct kernel_types {
    struct names names;
    bool *communicates; /* by name */
    size_t capacity;
};

/* `cat` is NULL for no category, `types` where nothing is kept. Takes time in proportion to
** the name. Out of memory, it finds the type without keeping it. */
enum kernel_type kernel_types_find(struct kernel_types *types, const char *name, size_t name_length,
                                   const char *cat, size_t cat_length);

void kernel_types_clear(struct kernel_types *types);

#endif
