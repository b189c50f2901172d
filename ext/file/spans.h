/*
** Events as intervals, grouped by thread, from outer to inner. The inner one of two events on a
** thread has the later start; ties: shorter duration, then later in the file.
*/
#ifndef TRACEDIFF_SPANS_H
#define TRACEDIFF_SPANS_H

#include "file.h"
#include "base/sort.h"

struct span {
    int64_t start, dur; /* ns; dur is 0 if there is no duration */
    uint32_t row;
};

struct spans {
    struct span *items;
    size_t *first; /* by track: index of its first span; plus an extra entry at the end */
};

/* The end (ns) of a span, exclusive; it cannot overflow (T1). */
static inline int64_t span_end(const struct span *span)
{
    return span->start + span->dur;
}

/* Adds the interval from one time to a later one. More than 2^63 ns become two spans. */
void span_put(struct span *spans, size_t *count, int64_t start, int64_t end, uint32_t row);

/* Compares from outer to inner, ignoring the order of the file. */
int span_order(const void *a, const void *b);

/* Makes the spans of rows that take part and have a start. Calls `takes_part` for all, in order. */
bool spans_make(struct spans *spans, const struct trace_file *file,
                bool (*takes_part)(void *argument, size_t row), void *argument,
                const struct stopper *stopper, struct failure *failure);

/* The row that is the innermost or outermost span from `start` to the next change, or ROW_NONE. */
struct span_change {
    int64_t start;
    uint32_t row;
};

/* Changes in ascending order. */
struct span_line {
    struct span_change *items; /* capacity: 2 per span and 1 more */
    size_t count;
};

/* Adds a change, or replaces the last one if it has the same start. */
void span_line_add(struct span_line *line, int64_t start, uint32_t row);

/* Adds the innermost span at each time. `spans` are sorted by start; later ones are further in. */
bool span_line_innermost(struct span_line *line, const struct span *spans, size_t count,
                         const struct stopper *stopper, struct failure *failure);

void spans_clear(struct spans *spans);

#endif
