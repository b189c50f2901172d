/*
** The parts of Plotly's JSON that only a timeline has: a bar for each event, in a lane for each
** series.
*/
#ifndef TRACEDIFF_TIMELINE_H
#define TRACEDIFF_TIMELINE_H

#include "figure.h"

/* Writes the bars of a lane. Those of one name have one colour, in every lane and picture. */
void timeline_write_lane(const struct figure *figure, struct writer *to, int series);

/* Writes the axis of lanes, the first at the top. Returns the px of the plot. */
size_t timeline_write_lanes(const struct figure *figure, struct writer *to);

#endif
