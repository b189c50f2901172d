/*
** Numbers of the report.
*/
#ifndef TRACEDIFF_REPORT_FORMAT_H
#define TRACEDIFF_REPORT_FORMAT_H

#include "report.h"

/* Times: as decimals of the page, without a unit. */
void report_time(const struct report *report, struct writer *to, double ms);

/* A difference with its sign, and a colour if it does not round to 0; `arrow`: ▲ or ▼ before it. */
void report_diff(const struct report *report, struct writer *to, const char *element, double ms,
                 bool arrow);

#endif
