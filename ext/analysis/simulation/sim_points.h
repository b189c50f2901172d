/*
** The begins and ends of host events and device work, in one order over all ranks (E1.4).
*/
#ifndef TRACEDIFF_SIM_POINTS_H
#define TRACEDIFF_SIM_POINTS_H

#include "analysis/parts/busy.h"
#include "analysis/job/sim_clocks.h"
#include "sim_sample.h"

enum { SIM_IDLE = 30000 /* ns: a thread with no point for longer is idle (E7) */ };

/* Flags of a point. */
enum {
    POINT_END = 1,
    POINT_HOST = 2,
    POINT_QUIET = 4 /* its thread is idle after it */,
    POINT_FLAGS = 8
};

struct sim_point {
    int64_t at; /* ns by the reference's clock; the sort key */
    uint32_t row;
    uint32_t member_flags; /* member * POINT_FLAGS, plus POINT_... */
};

static inline uint32_t point_member(const struct sim_point *point)
{
    return point->member_flags / POINT_FLAGS;
}

static inline bool point_is(const struct sim_point *point, unsigned flag)
{
    return point->member_flags & flag;
}

/* Returns the time of a point by its rank's clock, ns. */
static inline int64_t point_own_time(const struct sim_point *point, const struct columns *columns)
{
    int64_t start = columns->ts[point->row];
    return point_is(point, POINT_END) ? start + columns->dur[point->row] : start;
}

struct sim_points {
    struct sim_point *items;
    size_t count, capacity;
};

/* True if a row is a host event of the graph (E1). */
static inline bool sim_takes_host(const struct columns *columns, size_t row)
{
    return columns->ts[row] != NUMBER_NONE && row_counts(columns, row) &&
           !kind_is_device(columns->kind[row]);
}

/* Adds the points of a member's events that touch its share, in order. */
bool sim_points_add(struct sim_points *points, const struct trace_file *file, uint32_t member,
                    const struct sim_share *share, const struct sim_clock *clock,
                    const struct stopper *stopper, struct failure *failure);

/* Sorts the points of all members. */
bool sim_points_sort(struct sim_points *points, const struct stopper *stopper,
                     struct failure *failure);

void sim_points_clear(struct sim_points *points);

#endif
