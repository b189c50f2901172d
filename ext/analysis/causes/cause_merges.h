/*
** Merges of causes, so that the largest ones explain most of the changes (L3).
*/
#ifndef TRACEDIFF_CAUSE_MERGES_H
#define TRACEDIFF_CAUSE_MERGES_H

#include "causes.h"

/* Merges causes until the `shown` largest explain 75 % of the changes, and sorts them. With 0 it
** only sorts them. */
bool causes_merge(struct causes *causes, size_t shown, const struct stopper *stopper,
                  struct failure *failure);

/* Sets the owners of causes. If an owner joins its causes, one CAUSE_DIAGNOSED replaces them.
** `owners`: by cause, before merging; SIZE_MAX: no owner. `joins`: by owner. */
void causes_join_owned(struct causes *causes, const size_t *owners, const bool *joins);

#endif
