/*
** Events as stretches of time, grouped by thread, from outer to inner. Of two events of a thread
** the inner one is the one with the later start; ties: shorter duration, then later in the file.
*/
#ifndef TRACEDIFF_SPANS_H
#define TRACEDIFF_SPANS_H

#include "file.h"
#include "sort.h"

struct span {
    int64_t start, dur; /* ns; dur is 0 without a duration */
    uint32_t row;
};

struct spans {
    struct span *items;
    size_t *first; /* by track: index of its first span; one entry more at the end */
};

/* The end (ns) of a span, exclusive; it cannot overflow (T1). */
int64_t span_end(const struct span *span);

/* Makes the spans of the rows that take part and have a start. `takes_part` is called twice for
** every row, in the order of the file. */
bool spans_make(struct spans *spans, const struct trace_file *file,
                bool (*takes_part)(void *argument, size_t row), void *argument,
                const struct stopper *stopper, struct failure *failure);

void spans_clear(struct spans *spans);

#endif
