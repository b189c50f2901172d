/*
** Which ranks' link to the network is slower: that of the process groups that lost bandwidth (W10).
*/
#ifndef TRACEDIFF_SLOW_LINKS_H
#define TRACEDIFF_SLOW_LINKS_H

#include "analysis/causes/cause_rates.h"
#include "chart/writer.h"

/* Writes it in words; nothing if no group lost bandwidth, or no ranks have that in common. */
void write_slow_links(struct writer *text, const struct causes *causes,
                      const struct cause_rates *rates);

#endif
