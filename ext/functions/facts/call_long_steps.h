/*
** The long steps of the pair that a call compares, and their surplus (C6).
*/
#ifndef TRACEDIFF_CALL_LONG_STEPS_H
#define TRACEDIFF_CALL_LONG_STEPS_H

#include "analysis/answer/long_steps.h"
#include "call_pair.h"

/* On failure, fills call->failure. Clear them in this case, too. */
bool call_long_steps_find(struct call *call, struct call_pair *pair, struct long_steps *found);

#endif
