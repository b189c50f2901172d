/*
** Events as stretches of time, thread by thread, from outer to inner: of two events of a
** thread the inner one starts later, or with the other and is shorter, or is as long and
** stands later in the file.
*/
#ifndef TRACEDIFF_SPANS_H
#define TRACEDIFF_SPANS_H

#include "file.h"
#include "sort.h"

struct span {
    int64_t start, dur; /* ns; 0 without a duration */
    uint32_t row;
};

struct spans {
    struct span *items;
    size_t *first; /* by track: its first span; one more at the end */
};

/* After its last instant; it fits (T1). */
int64_t span_end(const struct span *span);

/* The spans of the rows that take part, whose starts are known. It is asked for every row
** twice, in the order of the file. */
bool spans_make(struct spans *spans, const struct trace_file *file,
                bool (*takes_part)(void *argument, size_t row), void *argument,
                const struct stopper *stopper, struct failure *failure);

void spans_clear(struct spans *spans);

#endif
