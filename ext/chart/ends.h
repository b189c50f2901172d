/*
** The texts at the ends of bars: differences, shares, sums.
*/
#ifndef TRACEDIFF_ENDS_H
#define TRACEDIFF_ENDS_H

#include "figure.h"

/* Whether the bars of a figure have texts at their ends. */
bool ends_any(const struct figure *figure);

/* Writes them as a Plotly trace. Returns the number of characters of the longest one. */
size_t ends_write(const struct figure *figure, struct writer *to);

#endif
