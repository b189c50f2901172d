/*
** What a host thread did around the time in which it is in nothing: A5.4.
*/
#ifndef TRACEDIFF_GAPS_H
#define TRACEDIFF_GAPS_H

#include "file/spans.h"

/* A stretch of time in which a thread is in nothing. It lasts until the thread is in something, or
** until the start of the next gap. A function that lies within a gap divides it (L4.5). */
struct gap {
    int64_t start, end;     /* ns */
    uint32_t before, after; /* rows of the events around it in its step; ROW_NONE: none */
    uint32_t function;      /* row of the Python frame that it is time of; ROW_NONE: of none */
};

/* The gaps of a thread; the first begins before all events. */
struct gaps {
    struct gap *items; /* owned */
    size_t count, capacity;
};

/* Makes the gaps of a thread with these spans; `line` is that of the steps (steps_line()). */
bool gaps_make(struct gaps *gaps, const struct span *spans, size_t count, const struct steps *steps,
               const struct span_line *line, const struct stopper *stopper,
               struct failure *failure);

/* Divides gaps by the functions that lie within one, of which the outermost counts. Their spans are
** of frames of the user's code on the thread, sorted from outer to inner. */
bool gaps_divide(struct gaps *gaps, const struct span *functions, size_t count,
                 const struct stopper *stopper, struct failure *failure);

/* The index of the gap that holds an instant at which the thread is in nothing. */
size_t gaps_find(const struct gaps *gaps, int64_t instant);

enum { GAP_TEXT = sizeof "between  and " }; /* of the name of a gap, beside the names in it */

/* Writes the name of a gap; NULL: nothing is there. Returns its length. */
size_t gap_name(char *to, const struct name *before, const struct name *after);

void gaps_clear(struct gaps *gaps);

#endif
