#include "log_time.h"

#include <stdlib.h>

#define QUARTER (15 * 60 * LOG_SECOND)

static const int days_before[] = {0, 31, 60, 91, 121, 152, 182, 213, 244, 274, 305, 335, 366};

/* Days from 1970 to the beginning of a year. */
static int64_t days_to(int year)
{
    int64_t y = year - 1;
    return 365 * (int64_t)(year - 1970) + (y / 4 - y / 100 + y / 400) - 477;
}

static bool is_leap(int year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

bool log_time_local(int month, int day, int64_t seconds, int64_t ns, int64_t *local)
{
    enum { MONTHS = 12 };
    if (month < 1 || month > MONTHS || day < 1 ||
        day > days_before[month] - days_before[month - 1] || seconds >= LOG_DAY / LOG_SECOND)
        return false;
    *local = (days_before[month - 1] + day - 1) * LOG_DAY + seconds * LOG_SECOND + ns;
    return true;
}

/* ns since 1970 of a local time in a year, without an offset. */
static int64_t in_year(int64_t local, int year)
{
    enum { LEAP_DAY = 59 };
    int64_t days = days_to(year) - (!is_leap(year) && local / LOG_DAY > LEAP_DAY);
    return days * LOG_DAY + local;
}

struct log_clock log_clock_of(int64_t local, int64_t ns)
{
    struct log_clock clock = {.known = true, .base = local};
    int64_t best = INT64_MAX;
    int near = 1970 + (int)(ns / LOG_DAY / 366);
    for (int year = near - 1; year <= near + 2; year++) {
        int64_t ahead = in_year(local, year) - ns, far = ahead < 0 ? -ahead : ahead;
        if (far >= best)
            continue;
        best = far;
        clock.year = year;
        clock.offset = (far + QUARTER / 2) / QUARTER * QUARTER * (ahead < 0 ? -1 : 1);
    }
    return clock;
}

int64_t log_time(const struct log_clock *clock, int64_t local)
{
    enum { HALF_YEAR = 183 };
    int64_t since = local - clock->base;
    int year = clock->year + (since < -HALF_YEAR * LOG_DAY) - (since > HALF_YEAR * LOG_DAY);
    return in_year(local, year) - clock->offset;
}
