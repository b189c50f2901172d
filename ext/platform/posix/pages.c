/* madvise() is not POSIX. */
#define _DEFAULT_SOURCE
#define _DARWIN_C_SOURCE
#include "platform/pages.h"

#include <stdint.h>
#include <sys/mman.h>

void pages_prefer_large(void *begin, size_t size)
{
#ifdef MADV_HUGEPAGE
    enum { PAGE = 4096 };
    /* The first page, too, although others share it: realloc() can only move a mapping whose pages
    ** are all of one kind. */
    uintptr_t from = (uintptr_t)begin / PAGE * PAGE, to = (uintptr_t)begin + size;
    (void)madvise((void *)from, to - from, MADV_HUGEPAGE);
#else
    (void)begin, (void)size;
#endif
}
