/*
** Look-ups in a rank during the walk along the job's path.
*/
#include "base/sort.h"
#include "job_rank.h"

uint32_t job_rank_window(const struct job_rank *rank, int64_t at, int64_t *from)
{
    size_t i = 1;
    LOWER_BOUND(i, rank->line.count, rank->line.items[i].start < at);
    *from = rank->line.items[i - 1].start;
    return rank->line.items[i - 1].row;
}

size_t job_rank_parts(const struct job_rank *rank, int64_t at)
{
    size_t i = 0;
    LOWER_BOUND(i, rank->part_count, rank->parts[i].start < at);
    return i;
}

bool job_rank_awaited(const struct job_rank *rank, const struct job_part *wait, int64_t at,
                      size_t *steps, uint32_t *awaited, const struct stopper *stopper,
                      struct failure *failure)
{
    wide_time least = ((wide_time)at - wait->start) / 2;
    size_t i = 0;
    *awaited = JOB_NONE;
    i = rank->host_first;
    LOWER_BOUND(i, rank->collective_count, rank->collectives[rank->by_end[i]].end <= at);
    for (i -= i > rank->host_first; i < rank->collective_count; i++) {
        const struct job_collective *collective = &rank->collectives[rank->by_end[i]];
        wide_time away = (wide_time)collective->end - at;
        if (away > least)
            break;
        if (!stopper_goes_on(stopper, (*steps)++, failure))
            return false;
        away = away < 0 ? -away : away;
        if (collective->start >= at || away > least ||
            (*awaited != JOB_NONE && away == least &&
             collective->start < rank->collectives[*awaited].start))
            continue;
        *awaited = rank->by_end[i];
        least = away;
    }
    return true;
}
