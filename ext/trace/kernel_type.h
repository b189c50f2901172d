/*
** What device work does, by its category and name:
**
** K1. copies and fills, categories gpu_memcpy, gpu_memset, Memcpy, Memset: MEMORY
** K2. a category of no device work (T9): none
** K3. `nccl`, `rccl` or `hccl` anywhere in the name, in any case: COMMUNICATION
** K4. else COMPUTATION
**
** Without a category, a name that begins with Memcpy, Memset, hipMemcpy, hipMemset or
** dma is MEMORY, then K3 and K4.
*/
#ifndef TRACEDIFF_KERNEL_TYPE_H
#define TRACEDIFF_KERNEL_TYPE_H

#include <stddef.h>

/* `cat` is NULL for no category. The type, or NULL for none. */
const char *kernel_type(const char *name, size_t name_length, const char *cat, size_t cat_length);

#endif
