/*
** A waterfall chart: leads from one total to another through the parts of their difference. Its
** axis is the difference: 0 is the total of control.
*/
#ifndef TRACEDIFF_WATERFALL_H
#define TRACEDIFF_WATERFALL_H

#include "figure.h"

/* Replaces the rows of a figure, whose series are control, test and difference:
** 1. the total of control;
** 2. at most 10 parts, the greatest difference first, of 1 % of the whole difference at least;
** 3. all other parts that differ as one row, if there are any;
** 4. the total of test.
** False if out of memory. */
bool waterfall_make(struct figure *figure);

/* Where the bar of a row begins, us from the total of control. It is as long as the difference. */
double waterfall_begin(const struct figure *figure, size_t row);

/* Writes its bars, one Plotly trace for each colour, without the brackets around the array. */
void waterfall_write(const struct figure *figure, struct writer *to);

#endif
