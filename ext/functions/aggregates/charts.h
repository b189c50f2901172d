/*
** Aggregates that draw charts. They take rows in the given order, and return a page or only the
** figure.
**
** 1. Columns of names are read as text. Every other column must be a number; NULL is a gap
**    (figure.h).
** 2. A title and a format, 'html' or 'plotly', may follow, and then optional columns. NULL is the
**    default. The title and the format of the first row apply.
** 3. Without rows the result is NULL.
*/
#ifndef TRACEDIFF_CHARTS_H
#define TRACEDIFF_CHARTS_H

#include "sqlite/function.h"

/* Gives the aggregate of the ith chart; false after the last one. */
bool chart_function_at(int i, struct function *function);

#endif
