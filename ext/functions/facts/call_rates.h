/*
** The rates of the collectives of two sides (W9).
*/
#ifndef TRACEDIFF_CALL_RATES_H
#define TRACEDIFF_CALL_RATES_H

#include "chart/writer.h"
#include "functions/call/call_causes.h"

/* Fills found->rates, if a cause asks for them. On failure, fills call->failure. */
bool call_rates_find(struct call *call, struct call_causes *found);

/* W10: writes which ranks' links to the network are slower: those of the process groups that lost
** bandwidth. Nothing if no group did, or no ranks have that in common. */
void write_slow_links(struct writer *text, const struct causes *causes,
                      const struct cause_rates *rates);

#endif
