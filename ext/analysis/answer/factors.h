/*
** The common factor of work that both sides do: of kernels, as with another clock (X1 to X4), or of
** operators of the host, as on a loaded machine (L7).
*/
#ifndef TRACEDIFF_FACTORS_H
#define TRACEDIFF_FACTORS_H

#include "analysis/causes/causes.h"
#include "work_keys.h"

enum factor_outcome {
    FACTOR_NOTHING, /* a side has no time, or the host no operators: nothing else is known */
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

/* A kernel or an operator that is compared. */
struct factor_item {
    /* Of a kernel: op, name, grid, block, shapes, types; of an operator: name, shapes, types. They
    ** are names of the sums; NULL: none. */
    const struct name *keys[FACTOR_KEYS];
    double counts; /* executions per step, on each side */
    double factor;
    bool beyond; /* a kernel: X4.2 */
    struct factor_times times;
    /* private, by side */
    int64_t runs[2];
    wide_time time[2], weight; /* ns of all steps; X1.2 */
    double step[2];            /* a step */
};

/* Values that nothing was there to find of are NAN. */
struct common_factor {
    enum factor_outcome outcome;
    size_t compared;                /* items */
    double factor, away, low, high; /* `away`: the factor or its inverse; quartiles */
    double share;                   /* of the time of both sides: that of the items that count */
    size_t agreeing;                /* of kernels: those that agree (X3.1) */
    double agreement;               /* and their part of the weight */
    double beyond;                  /* of the host, us per step: L7.5 */
    struct factor_times whole, other; /* the step or the host; the same without the items */
    struct factor_item *items; /* those beyond first, then by |rest| descending, by keys */
};

/* `sums` are by enum device_key, `sides` the parts of the step as paths. On failure nothing is left
** to clear. */
bool clock_factor_find(struct common_factor *found, const struct keyed *sums,
                       const struct cause_side sides[2], const struct stopper *stopper,
                       struct failure *failure);

/* The same of the host: `sums` are by enum host_key. */
bool host_factor_find(struct common_factor *found, const struct keyed *sums,
                      const int64_t steps[2], const struct stopper *stopper,
                      struct failure *failure);

/* Frees the items. All else stays. */
void common_factor_clear(struct common_factor *found);

#endif
