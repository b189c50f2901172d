/*
** Events as stretches of time, grouped by thread, from outer to inner. Of two events of a thread
** the inner one is the one with the later start; ties: shorter duration, then later in the file.
*/
#ifndef TRACEDIFF_SPANS_H
#define TRACEDIFF_SPANS_H

#include "file.h"
#include "base/sort.h"

struct span {
    int64_t start, dur; /* ns; dur is 0 without a duration */
    uint32_t row;
};

struct spans {
    struct span *items;
    size_t *first; /* by track: index of its first span; one entry more at the end */
};

/* The end (ns) of a span, exclusive; it cannot overflow (T1). */
static inline int64_t span_end(const struct span *span)
{
    return span->start + span->dur;
}

/* Adds the stretch from one instant to a later one. One of more than 2^63 ns becomes two spans. */
void span_put(struct span *spans, size_t *count, int64_t start, int64_t end, uint32_t row);

/* From outer to inner, but for the order of the file. */
int span_order(const void *a, const void *b);

/* Makes the spans of the rows that take part and have a start. `takes_part` is called once for
** every row, in the order of the file. */
bool spans_make(struct spans *spans, const struct trace_file *file,
                bool (*takes_part)(void *argument, size_t row), void *argument,
                const struct stopper *stopper, struct failure *failure);

/* From `start` on, until the start of the next change, this row is the innermost or the outermost
** of some spans; ROW_NONE: none is there. */
struct span_change {
    int64_t start;
    uint32_t row;
};

/* Ascending changes. */
struct span_line {
    struct span_change *items; /* with room for 2 per span and 1 more */
    size_t count;
};

/* Adds a change, which replaces one of the same start. */
void span_line_add(struct span_line *line, int64_t start, uint32_t row);

/* Adds the innermost at each instant of spans that are sorted by start; of those with one start,
** a later one is further in. */
bool span_line_innermost(struct span_line *line, const struct span *spans, size_t count,
                         const struct stopper *stopper, struct failure *failure);

void spans_clear(struct spans *spans);

#endif
