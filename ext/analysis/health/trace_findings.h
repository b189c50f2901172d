/*
** Findings about the recordings of a whole trace, and notes on how its files are read (I1 to I12).
*/
#ifndef TRACEDIFF_TRACE_FINDINGS_H
#define TRACEDIFF_TRACE_FINDINGS_H

#include "findings.h"

struct trace_finding {
    struct health_finding finding;
    const struct trace_member *member; /* NULL: the whole trace */
    int64_t rank;                      /* NUMBER_NONE: none */
};

/* A zeroed struct is empty. */
struct trace_findings {
    struct trace_finding *items; /* by severity, rank, file and check; owned */
    size_t count, capacity;
};

/* Collects the findings of the chosen ranks. */
bool trace_findings_find(struct trace_findings *found, const struct trace *trace,
                         const struct stopper *stopper, struct failure *failure);

/* Adds only the notes on how files are read (I10, I11), unsorted. */
bool trace_notes_find(struct trace_findings *found, const struct trace *trace,
                      struct failure *failure);

void trace_findings_clear(struct trace_findings *found);

#endif
