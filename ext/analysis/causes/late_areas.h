/*
** The areas of the host in which the device waits longer or shorter than elsewhere (L2.3).
*/
#ifndef TRACEDIFF_LATE_AREAS_H
#define TRACEDIFF_LATE_AREAS_H

#include "cause_parts.h"

/* Finds the areas that are causes, and makes parts of what is in them. On failure nothing is left
** in `parts`. */
bool late_areas_find(struct cause_parts *parts, const struct causes *causes,
                     const struct stopper *stopper, struct failure *failure);

#endif
