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
    int rank; /* number of dims; -1: a list of tensors, or more than MOST_DIMS dims */
    int64_t dims[MOST_DIMS];
    int64_t size;      /* bytes per element; 0: not a tensor, or an unknown type */
    bool typed;        /* it has a type in "Input type" */
    const char *value; /* from "Concrete Inputs", without quotes; NULL: absent */
    size_t length;
};

struct inputs {
    struct input items[MOST_INPUTS];
    int count; /* inputs after MOST_INPUTS are left out */
};

/* Reads dense JSON: "Input Dims", such as [[2,3],[]], "Input type" and "Concrete Inputs", which may
** be NULL. False if `dims` is not a list like that. Malformed types and values count as absent. */
bool inputs_read(struct inputs *inputs, const char *dims, const char *types, const char *concrete);

/* Reads the concrete value of an input, such as `[1, 1]`, as `count` integers. A single integer
** fills all of them. */
bool input_integers(const struct input *input, int64_t *values, int count);

/* Reads the concrete value of an input as `True` or `False` or, if `count` > 1, `[True, False]`. */
bool input_flags(const struct input *input, bool *values, int count);

/* Compute a * b and a + b for a, b >= 0. NUMBER_NONE if a or b is, or on overflow. */
int64_t number_times(int64_t a, int64_t b);
int64_t number_plus(int64_t a, int64_t b);

/* Returns the product of the dims from `from` up to `to`. */
int64_t input_product(const struct input *input, int from, int to);

/* Returns the number of elements, and of bytes; NUMBER_NONE: unknown. */
int64_t input_elements(const struct input *input);
int64_t input_bytes(const struct input *input);

#endif
