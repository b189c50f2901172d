/*
** The points of lines, dots, areas and timelines, after the last row of a figure.
**
** 1. Without chart->at, the first point or mark is at 0.
** 2. Of many points, each of equally wide parts of a line keeps its first, its last, its lowest and
**    its highest one; of dots all that rise.
** 3. An area is made for each key, from the largest at the peak on, and a line of their sum. A
**    point is where something changes, and has the sums after all changes there; what is there
**    before all is 1 before the first.
** 4. The peak is the earliest point with the largest sum, and is marked. Points are thinned by the
**    sum, so the peak stays.
** 5. Of more than 8 keys, those after the 7th are one area.
*/
#ifndef TRACEDIFF_POINTS_H
#define TRACEDIFF_POINTS_H

#include "figure.h"

/* As figure_finish(). */
bool points_make(struct figure *figure, const struct stopper *stopper, struct failure *failure);

#endif
