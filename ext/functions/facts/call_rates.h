/*
** The rates of collectives on two sides (W9).
*/
#ifndef TRACEDIFF_CALL_RATES_H
#define TRACEDIFF_CALL_RATES_H

#include "chart/writer.h"
#include "functions/call/call_causes.h"

/* Fills found->rates, if a cause needs them. On failure, fills call->failure. */
bool call_rates_find(struct call *call, struct call_causes *found);

/* W10: writes the ranks whose network links are slower: the ranks that all process groups with lost
** bandwidth share. Writes nothing if there are none. */
void write_slow_links(struct writer *text, const struct causes *causes,
                      const struct cause_rates *rates);

#endif
