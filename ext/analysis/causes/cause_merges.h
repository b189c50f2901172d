/*
** Merges of causes, so that the largest ones hold most of what changed (L3).
*/
#ifndef TRACEDIFF_CAUSE_MERGES_H
#define TRACEDIFF_CAUSE_MERGES_H

#include "causes.h"

/* Merges causes until the `shown` largest hold three quarters of the changes, and orders all. 0:
** only orders them. */
bool causes_merge(struct causes *causes, size_t shown, const struct stopper *stopper,
                  struct failure *failure);

#endif
