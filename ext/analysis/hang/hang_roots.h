/*
** The sets of ranks that wait for each other, and the roots, which wait for nobody else (FR17).
*/
#ifndef TRACEDIFF_HANG_ROOTS_H
#define TRACEDIFF_HANG_ROOTS_H

#include "hang.h"

bool hang_roots_find(struct hang *hang, const struct stopper *stopper, struct failure *failure);

#endif
