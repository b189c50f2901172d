/*
** The scalar functions, and all aggregates except charts.
*/
#ifndef TRACEDIFF_AGGREGATES_H
#define TRACEDIFF_AGGREGATES_H

#include "sqlite/function.h"

extern const struct function scalars[], aggregates[];
extern const int scalar_count, aggregate_count;

#endif
