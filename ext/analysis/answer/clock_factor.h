/*
** Whether kernels that do the same work are all slower by one factor, as with another clock: X2 to
** X4.
*/
#ifndef TRACEDIFF_CLOCK_FACTOR_H
#define TRACEDIFF_CLOCK_FACTOR_H

#include "analysis/causes/causes.h"
#include "factors.h"

/* A kernel that is compared. Names are those of the sums; NULL: none. */
struct clock_kernel {
    const struct name *op, *name, *grid, *block, *shapes;
    double counts; /* executions a step, on each side */
    double factor;
    bool beyond; /* X4.2 */
    struct factor_times times;
};

struct clock_factor {
    enum factor_outcome outcome;
    size_t kernels, agreeing;
    struct common_factor common; /* if there are kernels */
    double agreement;            /* of the weight: the part that the kernels that agree have */
    double share;                /* of the device time of both sides: the same */
    struct factor_times step, other; /* `other`: of the step, without the kernels */
    struct clock_kernel *items; /* those beyond first, then by |rest| descending, then by names */
};

/* `sums` are by enum device_key. `sides` are the parts of the step as paths. On failure nothing is
** left to clear. */
bool clock_factor_find(struct clock_factor *clock, const struct keyed *sums,
                       const struct cause_side sides[2], const struct stopper *stopper,
                       struct failure *failure);

/* Frees the items. All else stays. */
void clock_factor_clear(struct clock_factor *clock);

#endif
