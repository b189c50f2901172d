/*
** Which recv belongs to a send, and which send to a recv (FR14).
*/
#ifndef TRACEDIFF_HANG_PAIRS_H
#define TRACEDIFF_HANG_PAIRS_H

#include "hang.h"

/* The other side of a pending send or recv. */
struct hang_pair {
    size_t rank;     /* SIZE_MAX: not known */
    uint32_t entry;  /* what belongs to it; FR_NONE: it is not there, or not pending */
    enum member_is is;
};

struct hang_pair hang_pair_find(const struct hang *hang, uint32_t entry);

/* Whether what is sent has the size and the types of what is received (FR13). */
bool hang_pair_agrees(const struct hang *hang, uint32_t entry, uint32_t other,
                      struct failure *failure);

#endif
