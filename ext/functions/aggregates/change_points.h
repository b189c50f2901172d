/*
** trace_change_points(), an aggregate over an ordered measure (changes.h). It returns JSON.
**
** 1. A row whose x or position is NULL is left out. An infinite x is an error.
** 2. Positions have SQLite's order: numbers before text, and text by its bytes. A position has one
**    value: the mean of its rows.
** 3. The other arguments are constants. NULL is the default.
*/
#ifndef TRACEDIFF_CHANGE_POINTS_H
#define TRACEDIFF_CHANGE_POINTS_H

#include "sqlite/api.h"

extern const char change_points_name[];

void changePointsStep(sqlite3_context *context, int count, sqlite3_value **values);
void changePointsFinal(sqlite3_context *context);

#endif
