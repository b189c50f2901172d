/*
** Time that moved from one name to another, and so belongs to no cause (L12).
*/
#ifndef TRACEDIFF_MOVED_TIME_H
#define TRACEDIFF_MOVED_TIME_H

#include "cause_parts.h"

/* Moves control's time to the places that have it in test. Sorts the places and joins equal
** ones. */
bool moved_time_settle(struct cause_parts *parts, const struct causes *causes,
                       const struct stopper *stopper, struct failure *failure);

/* Finds the common name of names that only one side has and that differ only in their final number
** (L12.4). Sets parts->same. */
bool moved_time_same_names(struct cause_parts *parts, struct causes *causes,
                           struct failure *failure);

#endif
