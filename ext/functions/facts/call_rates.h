/*
** The rates of the collectives of two sides (W9).
*/
#ifndef TRACEDIFF_CALL_RATES_H
#define TRACEDIFF_CALL_RATES_H

#include "functions/call/call_causes.h"

/* Fills found->rates, if a cause asks for them. On failure, fills call->failure. */
bool call_rates_find(struct call *call, struct call_causes *found);

#endif
