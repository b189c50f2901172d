/*
** The state of each rank, and the ranks that it waits for (FR14 to FR16).
*/
#ifndef TRACEDIFF_HANG_STATES_H
#define TRACEDIFF_HANG_STATES_H

#include "hang.h"

bool hang_states_find(struct hang *hang, const struct stopper *stopper, struct failure *failure);

#endif
