/*
** Memory for every layer below SQLite.
**
** Three functions are declared here and defined by the program that links the layer:
** ext/base/sqlite_memory.c uses sqlite3_malloc64, a unit test whatever it likes. So the layers
** above it do not depend on SQLite, and a test can make any allocation fail. All functions can be
** called from several threads at once.
*/
#ifndef TRACEDIFF_MEMORY_H
#define TRACEDIFF_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* NULL if out of memory. The bytes are not initialised. */
void *memory_allocate(size_t size);

/* As realloc(): on NULL the old block is unchanged. */
void *memory_resize(void *block, size_t size);

/* NULL is allowed. */
void memory_free(void *block);

/* As memory_allocate(), for items of one size, also for none. */
void *memory_items(size_t count, size_t item);

/* The same with every bit 0 or, filled, 1: ROW_NONE, NAME_NONE and the like. */
void *memory_zeroed(size_t count, size_t item);
void *memory_filled(size_t count, size_t item);

/* Resizes a block to at least `needed` items of size `item`. `*capacity` is its current number
** of items, and is updated. It grows by at least half. NULL if out of memory; the block and
** `*capacity` are then unchanged. */
void *memory_grown(void *block, size_t *capacity, size_t needed, size_t item);

/* Makes room for `needed` items in `array`; false if out of memory. */
#define MEMORY_GROW(array, capacity, needed) \
    ((needed) <= (capacity) ||               \
     memory_assign(&(array), memory_grown((array), &(capacity), (needed), sizeof *(array))))

/* Stores `block` in the pointer at `to`, which may have any pointer type, unless `block` is
** NULL. Returns whether it did. */
bool memory_assign(void *to, void *block);

#endif
