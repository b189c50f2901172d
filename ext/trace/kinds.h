/*
** What events are: T9 and T10, by their category, and without one by their process.
*/
#ifndef TRACEDIFF_KINDS_H
#define TRACEDIFF_KINDS_H

#include "file.h"
#include "sort.h"

/* What a category is by its name. */
enum category category_of(const char *name, size_t length);

/* The kind of an event of a category; its name matters in mtia_ccp_events alone. */
enum kind kind_of(enum category category, const char *name, size_t length);

/* Fills in columns.kind and categories of a file, and which of its tracks are of a GPU. */
bool kinds_find(struct trace_file *file, const struct stopper *stopper, struct failure *failure);

#endif
