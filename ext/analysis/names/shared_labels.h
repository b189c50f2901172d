/*
** The labels that only one of two traces has (L13): annotations, modules and Python frames. A
** comparison ignores them.
*/
#ifndef TRACEDIFF_SHARED_LABELS_H
#define TRACEDIFF_SHARED_LABELS_H

#include "base/stopper.h"
#include "trace/trace.h"

/* Sets `unshared` in the members of both traces, control and test. */
bool shared_labels_find(const struct trace *const *traces, const struct stopper *stopper,
                        struct failure *failure);

/* Frees `unshared` in the members of a trace. */
void shared_labels_clear(const struct trace *trace);

/* Whether a row is an annotation, module or Python frame with an unshared name. */
bool label_is_unshared(const struct trace_file *file, const bool *unshared, size_t row);

#endif
