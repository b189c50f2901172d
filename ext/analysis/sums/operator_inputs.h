/*
** The inputs of an operator, as PyTorch's profiler writes them into args.
*/
#ifndef TRACEDIFF_OPERATOR_INPUTS_H
#define TRACEDIFF_OPERATOR_INPUTS_H

#include <stdbool.h>
#include <stddef.h>

#include "file/columns.h"

enum { MOST_INPUTS = 16, MOST_DIMS = 8 };

struct input {
    int rank; /* number of dims; -1: a list of tensors, or more than MOST_DIMS */
    int64_t dims[MOST_DIMS];
    int64_t size;      /* bytes of an element; 0: not a tensor, or of no known type */
    bool typed;        /* "Input type" has a type for it */
    const char *value; /* in "Concrete Inputs", without quotes; NULL: absent */
    size_t length;
};

struct inputs {
    struct input items[MOST_INPUTS];
    int count; /* those after MOST_INPUTS are left out */
};

/* Reads dense JSON: "Input Dims", such as [[2,3],[]], "Input type" and "Concrete Inputs", which may
** be NULL. False if the dims are not such a list; other text that is not as expected is as if it
** were absent. */
bool inputs_read(struct inputs *inputs, const char *dims, const char *types, const char *concrete);

/* Reads the concrete value of an input, `[1, 1]`, as `count` integers; one integer is for all. */
bool input_integers(const struct input *input, int64_t *values, int count);

/* Reads the concrete value of an input as `True`, `False` or, if `count` > 1, `[True, False]`. */
bool input_flags(const struct input *input, bool *values, int count);

/* a * b and a + b of numbers of 0 or more; NUMBER_NONE if one is, or the result is too large. */
int64_t number_times(int64_t a, int64_t b);
int64_t number_plus(int64_t a, int64_t b);

/* The product of the dims from `from` up to `to`. */
int64_t input_product(const struct input *input, int from, int to);

/* The number of elements, and their bytes; NUMBER_NONE: not known. */
int64_t input_elements(const struct input *input);
int64_t input_bytes(const struct input *input);

#endif
