/*
** Parts of Plotly's JSON.
*/
#ifndef TRACEDIFF_PLOTLY_JSON_H
#define TRACEDIFF_PLOTLY_JSON_H

#include "figure.h"

void plotly_comma(struct writer *to, bool needed);

/* Writes `key`, then an array of the keys of all rows. */
void plotly_keys(const struct figure *figure, struct writer *to, const char *key);

/* Writes `key`, then an array of numbers, divided. */
void plotly_numbers(struct writer *to, const char *key, const double *numbers, size_t count,
                    double divisor);

/* Writes a text as a JSON string, and clears it. */
void plotly_text(struct writer *to, struct writer *text);

/* Appends `12.3 ms`, and ` (4.5 %)` if the value is part of a whole. */
void plotly_value(struct writer *text, double value, struct scale scale, double whole);

#endif
