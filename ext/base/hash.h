/*
** Keyed hash, so that crafted names cannot force collisions, which would make loading quadratic.
** Each process has its own key.
*/
#ifndef TRACEDIFF_HASH_H
#define TRACEDIFF_HASH_H

#include <stddef.h>
#include <stdint.h>

__extension__ typedef unsigned __int128 hash_product;

#define HASH_ODD UINT64_C(0x9e3779b97f4a7c15)

/* The key is made from an address, which address space layout randomisation makes random. */
static inline uint64_t hash_key(void)
{
    static const char here;
    return ((uint64_t)(uintptr_t)&here ^ UINT64_C(0x2545f4914f6cdd1d)) * HASH_ODD;
}

/* Every bit of the result depends on every bit of both arguments. */
static inline uint64_t hash_mixed(uint64_t a, uint64_t b)
{
    hash_product both = (hash_product)a * b;
    return (uint64_t)both ^ (uint64_t)(both >> 64);
}

/* The hash of a value after those that `hash` is of. */
static inline uint64_t hash_with(uint64_t hash, uint64_t value)
{
    return hash_mixed(hash ^ value, HASH_ODD);
}

/* The same for ids. */
static inline uint64_t hash_with_ids(uint64_t hash, const uint32_t *ids, size_t count)
{
    for (size_t i = 0; i < count; i++)
        hash = hash_with(hash, ids[i]);
    return hash;
}

#endif
