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

/* Sets the owners of causes, and replaces the causes of an owner that joins them by one, of the
** kind CAUSE_DIAGNOSED. `owners`: by cause, before any is merged; SIZE_MAX: nobody. `joins`: by
** owner. */
void causes_join_owned(struct causes *causes, const size_t *owners, const bool *joins);

#endif
