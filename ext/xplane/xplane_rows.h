/*
** Turns profiles of XLA (*.xplane.pb) into rows (Y1 to Y6).
*/
#ifndef TRACEDIFF_XPLANE_ROWS_H
#define TRACEDIFF_XPLANE_ROWS_H

#include "file/row_source.h"

extern const struct row_source xplane_rows;

#endif
