/*
** Lists of integers: in order, without doubles.
*/
#ifndef TRACEDIFF_INTEGERS_H
#define TRACEDIFF_INTEGERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The order of integers, for sort_items() and bsearch(). */
int integer_order(const void *a, const void *b);

/* Removes doubles from an ascending list; returns the new count. */
size_t drop_doubles(int64_t *values, size_t count);

/* Sorts in ascending order and removes doubles; returns the new count. */
size_t sort_integers(int64_t *values, size_t count);

/* Whether an ascending list has a value. */
bool has_integer(const int64_t *values, size_t count, int64_t value);

#endif
