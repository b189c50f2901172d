/*
** Formats the times of an answer (C13).
*/
#ifndef TRACEDIFF_TIME_FORMAT_H
#define TRACEDIFF_TIME_FORMAT_H

#include "analysis/answer/pair.h"

struct time_format {
    const char *unit; /* ms or s */
    double size;      /* ms per unit */
    int digits;       /* decimals */
    double least;     /* ms; smaller times round to 0 */
};

struct time_format time_format_of(const struct pair *pair);

/* Returns the format of a time beside another one: a far smaller time has digits and a unit of its
** own (C13.4). */
struct time_format time_format_beside(const struct time_format *amounts, double ms, double other);

#endif
