/*
** Operators of the forward pass that one side computes again in the backward pass (L10).
*/
#ifndef TRACEDIFF_RECOMPUTED_H
#define TRACEDIFF_RECOMPUTED_H

#include "causes.h"

/* Finds these operators for each cause. Call it before merging causes. */
bool recomputed_find(struct causes *causes, const struct stopper *stopper,
                     struct failure *failure);

#endif
