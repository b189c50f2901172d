/*
** A waterfall: from one total to another over the parts of their difference.
*/
#ifndef TRACEDIFF_WATERFALL_H
#define TRACEDIFF_WATERFALL_H

#include "figure.h"

/* Makes of the rows of a figure, whose series are control, test and difference, those of a
** waterfall: the total of control; the parts that differ most, the greatest first; all
** others as one; the total of test. False if out of memory. */
bool waterfall_make(struct figure *figure);

/* Its bars, one trace for each colour, without the brackets around them. */
void waterfall_write(const struct figure *figure, struct writer *to);

/* What the axis shows: "range":[from, to]. */
void waterfall_write_range(const struct figure *figure, struct writer *to);

#endif
