/*
** The outliers and the longest of the other steps, if it is long, with the part that makes each
** longer than other steps (C6).
*/
#ifndef TRACEDIFF_LONG_STEPS_H
#define TRACEDIFF_LONG_STEPS_H

#include "analysis/parts/parts.h"
#include "pair.h"

struct long_step {
    int side;
    int64_t iteration;
    bool is_out;
    double length; /* ms */
    double ratio;  /* of the length to the median */
    double ms;    /* effect on the difference if it is or were in the mean; NAN if undefined */
    bool is_much; /* whether a kept step affects the verdict */
    /* The part that exceeds the mean of all steps of its side most. */
    int64_t rank;
    enum step_class step_class;
    uint32_t name; /* id in long_steps.names, or NAME_NONE */
};

struct long_steps {
    struct names names;
    struct long_step *items; /* by side; owned */
    size_t count, capacity;
};

/* Whether a side has outliers or a long step. */
bool pair_has_long_step(const struct pair *pair, int side);

/* The parts of the steps of a side. Steps are added one after the other. */
struct side_parts {
    const struct pair *pair;
    int side;
    const int64_t *ranks;       /* by rank index */
    wide_time longest;          /* ns of the longest kept step if it is long, else 0 */
    struct attributed_step sum; /* over all steps */
    struct table table;
    struct long_part *items; /* parts of the outliers and of the longest step; owned */
    size_t count, capacity;
};

void side_parts_begin(struct side_parts *parts, const struct pair *pair, int side,
                      const int64_t *ranks);

/* Adds the parts of a step. False if out of memory. */
bool side_parts_add(struct side_parts *parts, const struct attributed_step *step);

/* Adds the outliers and the longest step of a side. `names` are the names of the parts. */
bool long_steps_add(struct long_steps *steps, struct side_parts *parts, const struct names *names,
                    const struct stopper *stopper, struct failure *failure);

void side_parts_clear(struct side_parts *parts);

/* A zeroed struct is allowed. */
void long_steps_clear(struct long_steps *steps);

#endif
