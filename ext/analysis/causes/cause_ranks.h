/*
** The causes of the difference of two jobs, checked in the own steps of each rank (Q8, Q9).
*/
#ifndef TRACEDIFF_CAUSE_RANKS_H
#define TRACEDIFF_CAUSE_RANKS_H

#include "analysis/steps/attribute.h"
#include "cause_parts.h"

/* Sets the ranks of causes before merging, and makes one cause of all that only moved. `sides` are
** control and test. */
bool cause_ranks_find(struct causes *causes, const struct cause_parts *parts,
                      const struct families *families, const struct cause_ranks *sides,
                      const struct stopper *stopper, struct failure *failure);

#endif
