/*
** Pairs each send with its recv (FR14).
*/
#ifndef TRACEDIFF_HANG_PAIRS_H
#define TRACEDIFF_HANG_PAIRS_H

#include "hang.h"

/* The peer of a pending send or recv. */
struct hang_pair {
    size_t rank;     /* SIZE_MAX: unknown */
    uint32_t entry;  /* the peer's entry; FR_NONE: missing, or not pending */
    enum member_is is;
};

struct hang_pair hang_pair_find(const struct hang *hang, uint32_t entry);

/* FR13.2: true if a send and its recv agree in size and types. */
bool hang_pair_agrees(const struct hang *hang, uint32_t entry, uint32_t other,
                      struct failure *failure);

#endif
