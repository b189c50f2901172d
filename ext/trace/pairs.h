/*
** Begin and end events made one (T3).
**
** Per (pid, tid), in order of ts, then of the file: an E closes the innermost
** open B of its name, if it has a name; else the innermost open B. An E without
** a B, and a B without an E, are counted.
*/
#ifndef TRACEDIFF_PAIRS_H
#define TRACEDIFF_PAIRS_H

#include "file.h"
#include "sort.h"

/* A B or an E, while its file is read. */
struct edge {
    int64_t ts;   /* ns; NUMBER_NONE: it is never paired */
    int64_t byte; /* in the document, from 1 */
    uint32_t track;
    uint32_t name;  /* id, or NAME_NONE */
    uint32_t row;   /* of a B; ROW_NONE for an E */
    uint32_t order; /* position in traceEvents */
    bool own_span;  /* category Trace; pairs_find() marks an E that closes such a B, too */
};

/* Gives the rows of the Bs their durations. Reorders the edges. */
bool pairs_find(struct trace_file *file, struct edge *edges, size_t count,
                const struct stopper *stopper, struct failure *failure);

#endif
