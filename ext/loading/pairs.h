/*
** Pairs begin and end events (T3).
**
** For each (pid, tid), in order of ts, then of the file: an E with a name closes the innermost
** open B of that name; an E without a name closes the innermost open B. An E without a B, and a
** B without an E, are counted as problems.
*/
#ifndef TRACEDIFF_PAIRS_H
#define TRACEDIFF_PAIRS_H

#include "file/file.h"
#include "base/sort.h"

/* A B or an E; kept only while its file is read. */
struct edge {
    int64_t ts;   /* ns; NUMBER_NONE: cannot be paired */
    int64_t byte; /* byte of the document, from 1 */
    uint32_t track;
    uint32_t name; /* id, or NAME_NONE */
    uint32_t row;  /* the row of a B; ROW_NONE for an E */
    bool own_span; /* category Trace; pairs_find() also marks an E that closes such a B */
};

/* Sets the durations of the rows of the Bs. Reorders the edges. */
bool pairs_find(struct trace_file *file, struct edge *edges, size_t count,
                const struct stopper *stopper, struct failure *failure);

#endif
