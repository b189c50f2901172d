/*
** Finds the kinds of events (T9, T10): by category, or by process without a category.
*/
#ifndef TRACEDIFF_KINDS_H
#define TRACEDIFF_KINDS_H

#include "file.h"

/* The category of a name. */
enum category category_of(const char *name, size_t length);

/* The kind of an event of a category; the name is used for mtia_ccp_events only. */
enum kind kind_of(enum category category, const char *name, size_t length);

/* Fills in columns.kind, the categories of a file, and the roles of its tracks (roles.h). */
bool kinds_find(struct trace_file *file, const struct stopper *stopper, struct failure *failure);

#endif
