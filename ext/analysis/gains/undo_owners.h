/*
** The causes (L2) of lags, found by the names of their parts.
*/
#ifndef TRACEDIFF_UNDO_OWNERS_H
#define TRACEDIFF_UNDO_OWNERS_H

#include "analysis/causes/cause_parts.h"
#include "sim_parts.h"

enum { MOST_OWNERS = 2, OWNER_LAUNCHING = 1 };

/* The causes of a part: indices, or UINT32_MAX. OWNER_LAUNCHING has the cause of a launching call,
** while the device waits for it (A6). */
struct undo_causes {
    uint32_t items[MOST_OWNERS];
};

/* Finds the causes of a side's parts, by part. Some lags have none, because names alone cannot undo
** them: waits (L8), time that only moved (Q9), unrecorded time without a name. Returns NULL on
** failure; the caller frees it. */
struct undo_causes *undo_causes_find(const struct sim_parts *parts, int side, struct causes *causes,
                                     const struct families *families,
                                     const struct stopper *stopper, struct failure *failure);

#endif
