/*
** The scalar functions and the aggregates, also those that draw charts.
*/
#ifndef TRACEDIFF_AGGREGATES_H
#define TRACEDIFF_AGGREGATES_H

#include "sqlite/function.h"

extern const struct function scalars[], aggregates[];
extern const int scalar_count, aggregate_count;

/* The aggregate of the ith chart; false after the last. */
bool chart_function_at(int i, struct function *function);

#endif
