/*
** Gaps, in which a host thread is in no event, with the events around them (A5.4).
*/
#ifndef TRACEDIFF_GAPS_H
#define TRACEDIFF_GAPS_H

#include "file/spans.h"

/* A stretch of time in which a thread is in no event. It lasts until an event or the next gap
** starts. A function inside a gap splits it (L4.5). */
struct gap {
    int64_t start, end;     /* ns */
    uint32_t before, after; /* rows of the events before and after it in its step; ROW_NONE: none */
    uint32_t function;      /* row of the Python frame that it belongs to, or ROW_NONE */
};

/* The gaps of a thread. The first starts before all events. */
struct gaps {
    struct gap *items; /* owned */
    size_t count, capacity;
};

/* Makes the gaps of a thread from its spans. `line` comes from steps_line(). */
bool gaps_make(struct gaps *gaps, const struct span *spans, size_t count, const struct steps *steps,
               const struct span_line *line, const struct stopper *stopper,
               struct failure *failure);

/* Splits gaps by the functions inside them; only the outermost count. `functions` are the frames of
** the user's code on the thread, sorted from outer to inner. */
bool gaps_divide(struct gaps *gaps, const struct span *functions, size_t count,
                 const struct stopper *stopper, struct failure *failure);

/* Returns the index of the gap at an instant. The thread is in no event then. */
size_t gaps_find(const struct gaps *gaps, int64_t instant);

enum { GAP_TEXT = sizeof "between  and " }; /* length of a gap's name without the names in it */

/* Writes the name of a gap and returns its length. NULL: no event is on that side. */
size_t gap_name(char *to, const struct name *before, const struct name *after);

void gaps_clear(struct gaps *gaps);

#endif
