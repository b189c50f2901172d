/*
** What the host gives to every layer: the pointers to SQLite's functions, and memory.h on SQLite's
** allocator, so that SQLite counts the memory and applies the host's limits.
*/
#include <sqlite3ext.h>

#include "memory.h"

SQLITE_EXTENSION_INIT1

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
