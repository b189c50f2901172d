/*
** A hash table of ids: the indices 0, 1, 2 ... of an array. The caller supplies hashes and
** comparisons. Open addressing; at most half of the slots are taken.
*/
#ifndef TRACEDIFF_TABLE_H
#define TRACEDIFF_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "memory.h"

/* A zeroed struct is an empty table. */
struct table {
    uint32_t *slots; /* id + 1; 0: free */
    size_t count;    /* a power of two */
};

/* The slot of a key: the slot that holds the id of the item for which `is` is true, or the free
** slot where the key belongs. The table must have room. */
static inline uint32_t *table_slot(const struct table *table, uint64_t hash,
                                   bool (*is)(const void *key, uint32_t id), const void *key)
{
    size_t i = hash & (table->count - 1);
    while (table->slots[i] && !is(key, table->slots[i] - 1))
        i = (i + 1) & (table->count - 1);
    return &table->slots[i];
}

/* The id of a key, or UINT32_MAX. */
static inline uint32_t table_find(const struct table *table, uint64_t hash,
                                  bool (*is)(const void *key, uint32_t id), const void *key)
{
    return table->count ? *table_slot(table, hash, is, key) - 1 : UINT32_MAX;
}

/* Makes room for one more item than `items`; `hash` gives the hash of an item. False if out of
** memory. */
static inline bool table_reserve(struct table *table, size_t items,
                                 uint64_t (*hash)(const void *owner, uint32_t id),
                                 const void *owner)
{
    enum { FIRST = 64 };
    if (2 * (items + 1) <= table->count)
        return true;
    struct table larger = {.count = FIRST};
    while (larger.count < 2 * (items + 1))
        larger.count *= 2;
    larger.slots = memory_zeroed(larger.count, sizeof *larger.slots);
    if (!larger.slots)
        return false;
    for (uint32_t id = 0; id < items; id++) {
        size_t i = hash(owner, id) & (larger.count - 1);
        while (larger.slots[i])
            i = (i + 1) & (larger.count - 1);
        larger.slots[i] = id + 1;
    }
    memory_free(table->slots);
    *table = larger;
    return true;
}

static inline void table_clear(struct table *table)
{
    memory_free(table->slots);
    *table = (struct table){.slots = NULL};
}

#endif
