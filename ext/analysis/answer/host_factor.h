/*
** Whether operators that do the same work are all slower on the host, as on a loaded machine: L7.
*/
#ifndef TRACEDIFF_HOST_FACTOR_H
#define TRACEDIFF_HOST_FACTOR_H

#include "factors.h"

/* An operator that is compared. Names are those of the sums; NULL: none. */
struct host_operator {
    const struct name *name, *shapes, *types;
    double counts; /* executions a step, on each side */
    double factor;
    struct factor_times times; /* self time */
};

struct host_factor {
    enum factor_outcome outcome; /* FACTOR_DIFFERS: the load differs */
    size_t operators;
    struct common_factor common; /* if there are operators */
    bool timed;                  /* operators of the host take time */
    double share;                /* if so: the part of it that those that are compared take */
    struct factor_times host, other; /* `other`: of the operators that are not compared */
    double beyond; /* us a step: what load does not explain of the others (L7.5) */
    struct host_operator *items; /* by |rest| descending, then by names */
};

/* `sums` are by enum host_key; `steps` are those of both sides. On failure nothing is left to
** clear. */
bool host_factor_find(struct host_factor *host, const struct keyed *sums, const int64_t steps[2],
                      const struct stopper *stopper, struct failure *failure);

/* Frees the items. All else stays. */
void host_factor_clear(struct host_factor *host);

#endif
