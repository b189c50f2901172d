/*
** A bar for a column of text, to both sides of an axis: `width` cells for what is negative,
** the axis, and `width` cells for what is positive.
**
** 1. The length is in eighths of a cell to the right, and in halves to the left, for which
**    Unicode has no more; in ASCII in cells.
** 2. What is not 0 is at least the smallest piece long.
** 3. A value beyond the greatest fills its side and ends in `>` or `<`.
*/
#ifndef TRACEDIFF_BAR_H
#define TRACEDIFF_BAR_H

#include "writer.h"

enum { WIDEST_BAR = 500 };

/* `greatest` is not negative, `width` from 1 to WIDEST_BAR. */
void write_bar(struct writer *to, double value, double greatest, int width, bool ascii);

#endif
