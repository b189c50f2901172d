/*
** The common factor of things that both sides do: kernels (X1 to X4), or operators of the host
** (L7).
*/
#ifndef TRACEDIFF_FACTORS_H
#define TRACEDIFF_FACTORS_H

#include "work_keys.h"

enum factor_outcome {
    FACTOR_NOTHING, /* a side has no time, or no operators: there are no rows */
    FACTOR_TOO_FEW,
    FACTOR_DIFFERS, /* 'no common factor', 'load differs' */
    FACTOR_NO_CHANGE,
    FACTOR_ONE
};

/* Work with one value of each key; arrays are by side. */
enum { THING_KEYS = 6 };
struct thing {
    uint32_t keys[THING_KEYS]; /* ids in keyed->names; NAME_NONE */
    int64_t counts[2];         /* kernels or events of all steps */
    wide_time time[2];         /* ns of all steps: device time, or self time */
    bool compared;             /* it runs equally often a step, and takes time, on both sides */
    double factor;             /* of the mean, if it is compared */
};

struct things {
    struct thing *items; /* in the order of the ids of their keys */
    size_t count, compared;
    int64_t steps[2];
};

struct things_request {
    const struct keyed *sums;
    int keys[THING_KEYS]; /* of enum device_key or host_key; -1: not a key */
    int kind_key;         /* rows count whose id of this key is one of the kinds */
    uint32_t kinds[2];
    int64_t steps[2];
};

/* On failure nothing is left to clear. */
bool things_find(const struct things_request *request, struct things *things,
                 const struct stopper *stopper, struct failure *failure);

void things_clear(struct things *things);

/* Whether both sides have recorded a key; `of_kind`: only rows of the kinds count. */
bool key_recorded(const struct things_request *request, bool of_kind, int key);

/* X1. */
struct common_factor {
    double factor;
    double away;      /* the factor or its inverse, whichever is greater */
    double low, high; /* quartiles */
};

/* A thing that is compared, as the common factor counts it. */
struct weighed {
    double factor;
    wide_time weight; /* in units in which the weights are whole */
};

/* Returns the things that are compared, by their factors; there must be one. NULL on failure. */
struct weighed *common_factor_find(const struct things *things, struct common_factor *common,
                                   const struct stopper *stopper, struct failure *failure);

/* Whether a factor is at most a tolerance away from another one. */
static inline bool factor_is_near(double factor, double other, double tolerance)
{
    double ratio = factor > other ? factor / other : other / factor;
    return ratio <= 1 + tolerance;
}

/* us a step. */
struct factor_times {
    double control, test, diff;
    double explained; /* by the common factor */
    double rest;      /* diff without explained */
};

/* The order of rows: |rest| descending. */
int factor_times_order(const struct factor_times *a, const struct factor_times *b);

/* The order of names by text; NULL first. */
int factor_name_order(const struct name *a, const struct name *b);

/* The name of an id; NULL for NAME_NONE. */
static inline const struct name *factor_name(const struct keyed *keyed, uint32_t id)
{
    return id == NAME_NONE ? NULL : &keyed->names.items[id];
}

#endif
