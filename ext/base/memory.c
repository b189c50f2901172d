#include "memory.h"

#include <stdint.h>
#include <string.h>

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
