/*
** Draws a bar as text: `width` cells for negative values, the axis, and `width` cells for positive
** values.
**
** 1. The length is a multiple of an eighth of a cell to the right, and of a half to the left,
**    because Unicode has no finer blocks there. In ASCII it is in whole cells.
** 2. A value other than 0 has at least the smallest piece.
** 3. A value beyond the greatest fills its side, and `>` or `<` marks its end.
*/
#ifndef TRACEDIFF_BAR_H
#define TRACEDIFF_BAR_H

#include "writer.h"

enum { WIDEST_BAR = 500 };

/* `greatest` must not be negative; `width` must be from 1 to WIDEST_BAR. */
void write_bar(struct writer *to, double value, double greatest, int width, bool ascii);

#endif
