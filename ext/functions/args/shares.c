#include "shares.h"

#include "file/columns.h"

void shares_begin(struct shares *shares, wide_time total)
{
    *shares = (struct shares){.total = total};
    while (total >> shares->unit > INT64_MAX)
        shares->unit++;
}

/* Returns the position after device work of this duration. */
static wide_time end_of(const struct shares *shares, int64_t dur)
{
    return shares->total > 0 ? shares->done + dur : 1;
}

int64_t shares_of(const struct shares *shares, int64_t dur, int64_t whole)
{
    wide_time all = shares->total > 0 ? shares->total >> shares->unit : 1;
    if (whole == NUMBER_NONE)
        return NUMBER_NONE;
    return (int64_t)(whole * (end_of(shares, dur) >> shares->unit) / all -
                     whole * (shares->done >> shares->unit) / all);
}

void shares_next(struct shares *shares, int64_t dur)
{
    shares->done = end_of(shares, dur);
}
