/*
** The parts of a step: each class and names once, in order.
*/
#ifndef TRACEDIFF_PARTS_H
#define TRACEDIFF_PARTS_H

#include "attribute.h"

/* A12.4: a part of a path as parts at a level have it; it stays a path for LEVEL_COUNT. False if there is no
** such part: only kernels are counted. */
bool part_at_level(const struct attributed *path, enum label_level level, struct attributed *part);

/* Adds a part to a step, or its time to the part of its class and names. `parts` finds these; it is
** empty before the first. False if out of memory. */
bool parts_add(struct table *parts, struct attributed_step *to, const struct attributed *part);

/* Sorts the parts of a step (attribute.h). */
bool parts_sort(struct attributed_step *step, const struct names *names,
                const struct stopper *stopper, struct failure *failure);

#endif
