/*
** The steps that are outliers, and the longest step that is kept, if it is long: what they have
** more of than other steps (C6).
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
    double ratio;  /* by the median */
    double ms;    /* more of test less control by it, if it is or were in the mean; or no number */
    bool is_much; /* of one that is kept: it matters to the verdict */
    /* What it has more of than the mean of all steps of its side. */
    int64_t rank;
    enum step_class step_class;
    uint32_t name; /* id in long_steps.names, or NAME_NONE */
};

struct long_steps {
    struct names names;
    struct long_step *items; /* by side; owned */
    size_t count, capacity;
};

/* Whether steps of a side are to be looked at. */
bool pair_has_long_step(const struct pair *pair, int side);

/* The parts of the steps of a side, which are added one step after the other. */
struct side_parts {
    const struct pair *pair;
    int side;
    const int64_t *ranks;       /* by index of rank */
    wide_time longest;          /* ns, of the steps that are kept, if it is long; else 0 */
    struct attributed_step sum; /* of all steps */
    struct table table;
    struct long_part *items; /* of the steps that are looked at; owned */
    size_t count, capacity;
};

void side_parts_begin(struct side_parts *parts, const struct pair *pair, int side,
                      const int64_t *ranks);

/* Adds the parts of a step. False if out of memory. */
bool side_parts_add(struct side_parts *parts, const struct attributed_step *step);

/* Adds the steps of a side. `names` are those of the parts. */
bool long_steps_add(struct long_steps *steps, struct side_parts *parts, const struct names *names,
                    const struct stopper *stopper, struct failure *failure);

void side_parts_clear(struct side_parts *parts);

/* Does nothing to a zeroed struct. */
void long_steps_clear(struct long_steps *steps);

#endif
