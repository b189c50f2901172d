/*
** Turns databases of profilers into rows.
*/
#ifndef TRACEDIFF_DATABASE_ROWS_H
#define TRACEDIFF_DATABASE_ROWS_H

#include "file/row_source.h"

extern const struct row_source database_rows;

#endif
