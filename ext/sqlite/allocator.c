/*
** memory.h on SQLite's allocator, so that SQLite counts the memory and applies the host's limits.
*/
#include "../reader/memory.h"
#include "api.h"

void *memory_allocate(size_t size)
{
    return sqlite3_malloc64(size);
}

void *memory_resize(void *block, size_t size)
{
    return sqlite3_realloc64(block, size);
}

void memory_free(void *block)
{
    sqlite3_free(block);
}
