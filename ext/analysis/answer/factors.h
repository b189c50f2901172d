/*
** The common factor between the work of both sides: of kernels, such as from another clock (X1 to
** X4), or of host operators, such as on a loaded machine (L7).
*/
#ifndef TRACEDIFF_FACTORS_H
#define TRACEDIFF_FACTORS_H

#include "analysis/causes/causes.h"
#include "work_keys.h"

enum factor_outcome {
    FACTOR_NOTHING, /* a side has no time, or the host no operators: other fields are unset */
    FACTOR_TOO_FEW,
    FACTOR_DIFFERS, /* 'no common factor', 'load differs' */
    FACTOR_NO_CHANGE,
    FACTOR_ONE
};

enum { FACTOR_KEYS = 6 };

/* us per step. */
struct factor_times {
    double control, test, diff;
    double explained; /* by the common factor */
    double rest;      /* diff without explained */
};

/* A compared kernel or operator. */
struct factor_item {
    /* For a kernel: op, name, grid, block, shapes, types; for an operator: name, shapes, types.
    ** They point into the names of the sums; NULL: none. */
    const struct name *keys[FACTOR_KEYS];
    double counts; /* executions per step, on each side */
    double factor;
    bool beyond; /* kernels only: X4.2 */
    struct factor_times times;
    /* private, by side */
    int64_t runs[2];
    wide_time time[2], weight; /* ns in all steps; X1.2 */
    double step[2];            /* ns per step */
};

/* Numbers are NAN if there was nothing to compute them from. */
struct common_factor {
    enum factor_outcome outcome;
    size_t compared;                /* number of compared items */
    double factor, away, low, high; /* away: the factor or its inverse, at least 1; quartiles */
    double share;                   /* part of both sides' time that the counted items have */
    size_t agreeing;                /* number of kernels that agree (X3.1) */
    double agreement;               /* fraction of the weight in agreeing kernels */
    double beyond;                  /* host only, us per step: L7.5 */
    struct factor_times whole, other; /* whole: the step or the host; other: without the items */
    struct factor_item *items; /* beyond the factor first, by |rest| descending, then by keys */
};

/* Finds the common factor of kernels. `sums` are by enum device_key, `sides` hold the parts of the
** step as paths. On failure there is nothing to clear. */
bool clock_factor_find(struct common_factor *found, const struct keyed *sums,
                       const struct cause_side sides[2], const struct stopper *stopper,
                       struct failure *failure);

/* Finds the common factor of host operators; `sums` are by enum host_key. */
bool host_factor_find(struct common_factor *found, const struct keyed *sums,
                      const int64_t steps[2], const struct stopper *stopper,
                      struct failure *failure);

/* Frees the items and keeps the other fields. */
void common_factor_clear(struct common_factor *found);

#endif
