/*
** A waterfall chart: leads from one total to another through the parts of their difference.
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

/* The greater end of the bar of a row, us. */
double waterfall_end(const struct figure *figure, size_t row);

/* The axis, in us. It begins at 0 if the bars of the parts then have a third of its width, else at
** a round number before them. */
struct waterfall_axis {
    double from, to;
};
struct waterfall_axis waterfall_axis(const struct figure *figure);

/* Writes its bars, one Plotly trace for each colour, without the brackets around the array. */
void waterfall_write(const struct figure *figure, struct writer *to);

#endif
