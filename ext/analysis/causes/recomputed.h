/*
** Operators of the forward pass that one side computes again in the backward pass (L10).
*/
#ifndef TRACEDIFF_RECOMPUTED_H
#define TRACEDIFF_RECOMPUTED_H

#include "causes.h"

/* Finds them for each cause, before causes are merged. */
bool recomputed_find(struct causes *causes, const struct stopper *stopper,
                     struct failure *failure);

#endif
