/*
** Memory for every layer below SQLite.
**
** Three functions are declared here and defined by whoever links the layer:
** ext/sqlite/allocator.c takes them from sqlite3_malloc64, a unit test from where
** it likes. So the layers below know nothing of SQLite, and a test can make any
** allocation fail. All are safe to call from several threads at once.
*/
#ifndef TRACEDIFF_MEMORY_H
#define TRACEDIFF_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* NULL if out of memory. The bytes are not initialised. */
void *memory_allocate(size_t size);

/* As realloc: NULL leaves the old block as it was. */
void *memory_resize(void *block, size_t size);

/* NULL is allowed. */
void memory_free(void *block);

/* As memory_allocate, filled with zeros. */
void *memory_zeroed(size_t count, size_t item);

/* A block of at least `needed` items of size `item`, `*capacity` being what it
** has now and has afterwards; it grows by half at the least. NULL when there is
** no memory: the old block and `*capacity` stay as they were. */
void *memory_grown(void *block, size_t *capacity, size_t needed, size_t item);

/* Makes room for `needed` items in `array`; false if out of memory. */
#define MEMORY_GROW(array, capacity, needed) \
    ((needed) <= (capacity) ||               \
     memory_assign(&(array), memory_grown((array), &(capacity), (needed), sizeof *(array))))

/* Stores `block` in the pointer at `to`, of whatever type, unless it is NULL. */
bool memory_assign(void *to, void *block);

#endif
