/*
** Areas of the host where GPU idle time changed more than elsewhere (L2.3).
*/
#ifndef TRACEDIFF_LATE_AREAS_H
#define TRACEDIFF_LATE_AREAS_H

#include "cause_parts.h"

/* Finds the areas that are causes, and gives them parts of their own. On failure `parts` is
** empty. */
bool late_areas_find(struct cause_parts *parts, const struct causes *causes,
                     const struct stopper *stopper, struct failure *failure);

#endif
