/*
** Turns Perfetto traces into rows (U5).
*/
#ifndef TRACEDIFF_PERFETTO_ROWS_H
#define TRACEDIFF_PERFETTO_ROWS_H

#include "file/row_source.h"

extern const struct row_source perfetto_rows;

#endif
