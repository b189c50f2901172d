/*
** A waterfall chart: leads from one total to another through the parts of their difference.
*/
#ifndef TRACEDIFF_WATERFALL_H
#define TRACEDIFF_WATERFALL_H

#include "figure.h"

/* Replaces the rows of a figure, whose series are control, test and difference:
** 1. the total of control;
** 2. the parts that differ most, the greatest first;
** 3. all other parts as one row;
** 4. the total of test.
** False if out of memory. */
bool waterfall_make(struct figure *figure);

/* Writes its bars, one Plotly trace for each colour, without the brackets around the array. */
void waterfall_write(const struct figure *figure, struct writer *to);

/* Writes the range of the value axis: "range":[from, to]. */
void waterfall_write_range(const struct figure *figure, struct writer *to);

#endif
