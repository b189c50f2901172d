/*
** Sorted orders of the rows of a file. An order is derived on first use and kept with the file,
** with 4 bytes per row.
*/
#ifndef TRACEDIFF_ORDER_H
#define TRACEDIFF_ORDER_H

#include "file.h"
#include "base/sort.h"

enum order { ORDER_NAME, ORDER_TS, ORDER_DUR, ORDER_SPANS, ORDER_COUNT };

/* The rows in ascending order; names are compared bytewise. Rows without a value come first; ties:
** file order. ORDER_SPANS is by thread, from outer to inner in each (spans.h), and saves
** spans_make() the sorting. NULL on failure. */
const uint32_t *order_rows(struct trace_file *file, enum order order, const struct stopper *stopper,
                           struct failure *failure);

/* Finds the rows with a name in an ORDER_NAME array: [*first, *end). */
void order_of_name(const struct trace_file *file, const uint32_t *rows, uint32_t name,
                   size_t *first, size_t *end);

size_t orders_memory(const struct trace_file *file);

void orders_clear(struct trace_file *file);

#endif
