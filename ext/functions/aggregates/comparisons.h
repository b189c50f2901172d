/*
** Aggregates that compare the values of two sides (statistics.h). They return JSON.
**
** 1. A row with a NULL is left out. Infinite values are errors.
** 2. A side is 0 or 'control', 1 or 'test'.
** 3. All keys are always present. Unknown values are null; without rows, only counts are not null.
*/
#ifndef TRACEDIFF_COMPARISONS_H
#define TRACEDIFF_COMPARISONS_H

#include "sqlite/api.h"

extern const char mann_whitney_name[], shift_name[], t_test_name[];

#define SAMPLES                                                               \
    {{"x", TAKES_REAL, true, "value, in any unit; infinity is an error"}, \
     {"side", TAKES_ANY, true, "side of the value: 0 or 'control', 1 or 'test'"}}

void mannWhitneyStep(sqlite3_context *context, int count, sqlite3_value **values);
void mannWhitneyFinal(sqlite3_context *context);
void shiftStep(sqlite3_context *context, int count, sqlite3_value **values);
void shiftFinal(sqlite3_context *context);
void tTestStep(sqlite3_context *context, int count, sqlite3_value **values);
void tTestFinal(sqlite3_context *context);

#endif
