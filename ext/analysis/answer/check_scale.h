/*
** Finds whether the tensors of one side are N times as large as on the other (J4).
*/
#ifndef TRACEDIFF_CHECK_SCALE_H
#define TRACEDIFF_CHECK_SCALE_H

#include "base/names.h"
#include "base/sort.h"
#include "base/wide.h"

/* The input dims of an operator, `[[4,8],[8]]`, that only one side has. */
struct scale_list {
    struct name dims;
    size_t operator; /* an id; the lists of one operator are adjacent */
    int side;
    wide_time time; /* of the operator with these dims */
};

struct scale_lists {
    struct scale_list *items;
    size_t count, capacity;
};

/* The ratio of tensor sizes as a reduced fraction, to / from; 0 / 0: there is none. */
struct tensor_scale {
    int64_t from, to;
    struct name dims[2]; /* of one input, by side; empty: all are too long to show */
};

/* Adds a list. The lists of one operator must be added one after the other. */
bool scale_lists_add(struct scale_lists *lists, const struct scale_list *list,
                     struct failure *failure);

/* Finds the scale that SCALED_PERCENT of the lists agree on. */
bool scale_find(const struct scale_lists *lists, struct tensor_scale *scale,
                const struct stopper *stopper, struct failure *failure);

void scale_lists_clear(struct scale_lists *lists);

#endif
