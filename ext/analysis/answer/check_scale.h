/*
** Whether the tensors of one side are N times as large as those of the other (J4).
*/
#ifndef TRACEDIFF_CHECK_SCALE_H
#define TRACEDIFF_CHECK_SCALE_H

#include "base/names.h"
#include "base/sort.h"
#include "base/wide.h"

/* Dims of the inputs of an operator, `[[4,8],[8]]`, that only one side has. */
struct scale_list {
    struct name dims;
    size_t operator; /* one after the other */
    int side;
    wide_time time; /* in which operators had them */
};

struct scale_lists {
    struct scale_list *items;
    size_t count, capacity;
};

/* How many times as large: to / from, without a common divisor; 0 / 0: there is no such scale. */
struct tensor_scale {
    int64_t from, to;
    struct name dims[2]; /* of one input, by side; empty: all are too long to be shown */
};

/* Adds a list. Those of an operator come one after the other. */
bool scale_lists_add(struct scale_lists *lists, const struct scale_list *list,
                     struct failure *failure);

/* Finds the scale of nine tenths of the lists. */
bool scale_find(const struct scale_lists *lists, struct tensor_scale *scale,
                const struct stopper *stopper, struct failure *failure);

void scale_lists_clear(struct scale_lists *lists);

#endif
