/*
** Time that went from one name to another (L12): it is in no cause.
*/
#ifndef TRACEDIFF_MOVED_TIME_H
#define TRACEDIFF_MOVED_TIME_H

#include "cause_parts.h"

/* Moves time of control to the places that have it in test. The places are in another order then,
** and equal ones are one. */
bool moved_time_settle(struct cause_parts *parts, const struct causes *causes,
                       const struct stopper *stopper, struct failure *failure);

/* Makes the same of names that only one side has and that differ only in the number at their end
** (L12.4): fills parts->same. */
bool moved_time_same_names(struct cause_parts *parts, struct causes *causes,
                           struct failure *failure);

#endif
