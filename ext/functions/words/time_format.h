/*
** How times of an answer are written (C13).
*/
#ifndef TRACEDIFF_TIME_FORMAT_H
#define TRACEDIFF_TIME_FORMAT_H

#include "analysis/answer/pair.h"

struct time_format {
    const char *unit; /* ms or s */
    double size;      /* ms in a unit */
    int digits;       /* decimals */
    double least;     /* ms: less rounds to 0 */
};

struct time_format time_format_of(const struct pair *pair);

/* How a time is written beside another one: one that is far smaller has digits of its own, and a
** unit (C13.4). */
struct time_format time_format_beside(const struct time_format *amounts, double ms, double other);

#endif
