/*
** Which causes (L2) lags are of, by the names of their parts.
*/
#ifndef TRACEDIFF_UNDO_OWNERS_H
#define TRACEDIFF_UNDO_OWNERS_H

#include "analysis/causes/cause_parts.h"
#include "sim_parts.h"

enum { MOST_OWNERS = 2, OWNER_LAUNCHING = 1 };

/* The causes of a part: their indices, or UINT32_MAX. That at OWNER_LAUNCHING is of calls, while
** the device waits for what they launch (A6). */
struct undo_causes {
    uint32_t items[MOST_OWNERS];
};

/* Finds the causes of all parts of a side, by part; NULL on failure. Waits (L8), what only moved
** (Q9) and what is not recorded and has no name are nothing that can be undone by names: they have
** no part. */
struct undo_causes *undo_causes_find(const struct sim_parts *parts, int side, struct causes *causes,
                                     const struct families *families,
                                     const struct stopper *stopper, struct failure *failure);

#endif
