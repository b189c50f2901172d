/* madvise() is not POSIX. */
#define _DEFAULT_SOURCE
#include "memory.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

enum { LARGE = 2 * 1024 * 1024 /* bytes of a large page */ };

void *memory_items(size_t count, size_t item)
{
    return count > SIZE_MAX / item ? NULL : memory_allocate(count > 0 ? count * item : 1);
}

static void *memory_of(int byte, size_t count, size_t item)
{
    void *block = memory_items(count, item);
    if (block)
        memset(block, byte, count * item);
    return block;
}

void *memory_zeroed(size_t count, size_t item)
{
    return memory_of(0, count, item);
}

void *memory_filled(size_t count, size_t item)
{
    return memory_of(0xff, count, item);
}

void *memory_grown(void *block, size_t *capacity, size_t needed, size_t item)
{
    size_t more = *capacity + *capacity / 2;
    if (more < 16)
        more = 16;
    if (more < needed)
        more = needed;
    if (more > SIZE_MAX / item)
        return NULL;
    void *grown = memory_resize(block, more * item);
    if (grown)
        *capacity = more;
    return grown;
}

bool memory_assign(void *to, void *block)
{
    if (block)
        memcpy(to, &block, sizeof block);
    return block != NULL;
}

void memory_use_large_pages(void *block, size_t size)
{
#ifdef MADV_HUGEPAGE
    enum { PAGE = 4096 };
    /* The block's first page, too, although others share it: realloc() can only move a mapping
    ** whose pages are all of one kind. */
    uintptr_t begin = (uintptr_t)block / PAGE * PAGE, end = (uintptr_t)block + size;
    if (size >= LARGE)
        (void)madvise((void *)begin, end - begin, MADV_HUGEPAGE);
#else
    (void)block, (void)size;
#endif
}

void *memory_allocate_large(size_t size, unsigned char **start)
{
    size_t rest = size % LARGE, more = size < LARGE ? 0 : LARGE;
    if (more > 0 && rest > LARGE / 2)
        more += LARGE - rest;
    unsigned char *block = size > SIZE_MAX - more ? NULL : memory_allocate(size + more);
    *start = block;
    if (block && more > 0) {
        *start += LARGE - (uintptr_t)block % LARGE;
        memory_use_large_pages(block, size + more);
    }
    return block;
}
