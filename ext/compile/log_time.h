/*
** Times of a log's prefixes: local, without a year (CL4).
*/
#ifndef TRACEDIFF_LOG_TIME_H
#define TRACEDIFF_LOG_TIME_H

#include <stdbool.h>
#include <stdint.h>

#define LOG_SECOND INT64_C(1000000000)
#define LOG_DAY (24 * 3600 * LOG_SECOND)

/* The year and the offset of local times of a process. */
struct log_clock {
    bool known;
    int year;       /* of `base` */
    int64_t base;   /* the local time that told it */
    int64_t offset; /* ns: local time is ahead of UTC by it */
};

/* ns since the beginning of a year, taken for 2000, which has all days. False: there is no such
** time. */
bool log_time_local(int month, int day, int64_t seconds, int64_t ns, int64_t *local);

/* The clock by which a local time is nearest to one in ns since 1970, at a whole quarter of an
** hour. */
struct log_clock log_clock_of(int64_t local, int64_t ns);

/* ns since 1970 of a local time; the clock is known. */
int64_t log_time(const struct log_clock *clock, int64_t local);

#endif
