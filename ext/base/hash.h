/*
** Keyed hash, so that crafted names cannot force collisions, which would make loading quadratic.
** Each process has its own key.
*/
#ifndef TRACEDIFF_HASH_H
#define TRACEDIFF_HASH_H

#include <stdint.h>

__extension__ typedef unsigned __int128 hash_product;

/* The key is made from an address, which address space layout randomisation makes random. */
static inline uint64_t hash_key(void)
{
    static const char here;
    return ((uint64_t)(uintptr_t)&here ^ UINT64_C(0x2545f4914f6cdd1d)) *
           UINT64_C(0x9e3779b97f4a7c15);
}

/* Every bit of the result depends on every bit of both arguments. */
static inline uint64_t hash_mixed(uint64_t a, uint64_t b)
{
    hash_product both = (hash_product)a * b;
    return (uint64_t)both ^ (uint64_t)(both >> 64);
}

#endif
