/*
** The labels that only one of two traces has (L13): annotations, modules and Python frames that
** stand for no time while the two are compared.
*/
#ifndef TRACEDIFF_SHARED_LABELS_H
#define TRACEDIFF_SHARED_LABELS_H

#include "base/stopper.h"
#include "trace/trace.h"

/* Sets `unshared` of the members of two traces, control and test. */
bool shared_labels_find(const struct trace *const *traces, const struct stopper *stopper,
                        struct failure *failure);

/* Unsets it. */
void shared_labels_clear(const struct trace *trace);

/* Whether a row is an annotation, a module or a Python frame of such a name. */
bool label_is_unshared(const struct trace_file *file, const bool *unshared, size_t row);

#endif
