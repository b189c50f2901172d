/*
** What events are: T9 and T10, by their category, and without one by their process.
*/
#ifndef TRACEDIFF_KINDS_H
#define TRACEDIFF_KINDS_H

#include "columns.h"
#include "sort.h"

/* The kind of an event with a category; the name matters in mtia_ccp_events alone. */
enum kind kind_of(const char *category, size_t length, const char *name, size_t name_length);

/* Whether a category is mtia_ccp_events. */
bool kind_is_mtia(const char *category, size_t length);

/* Fills in columns.kind of a file, and which of its tracks are of a GPU. */
bool kinds_find(struct trace_file *file, const struct stopper *stopper, struct failure *failure);

#endif
