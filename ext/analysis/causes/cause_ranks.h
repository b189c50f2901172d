/*
** What the own steps of the ranks of two jobs say of the causes of their difference (Q8, Q9).
*/
#ifndef TRACEDIFF_CAUSE_RANKS_H
#define TRACEDIFF_CAUSE_RANKS_H

#include "analysis/steps/attribute.h"
#include "cause_parts.h"

/* Fills the ranks of causes that are not merged yet, and makes one cause of those that only moved.
** `sides` are control and test. */
bool cause_ranks_find(struct causes *causes, const struct cause_parts *parts,
                      const struct families *families, const struct cause_ranks *sides,
                      const struct stopper *stopper, struct failure *failure);

#endif
