/*
** Calls that load or set up something, as they are the first ones: warm-up (C21).
*/
#ifndef TRACEDIFF_FIRST_CALLS_H
#define TRACEDIFF_FIRST_CALLS_H

#include "base/wide.h"
#include "trace/trace.h"

/* What calls are for, by their names. */
enum first_call {
    FIRST_LAUNCH,
    FIRST_MODULE,
    FIRST_MEMORY,
    FIRST_LIBRARY,
    FIRST_OTHER,
    FIRST_KINDS
};

struct first_calls {
    int64_t calls[FIRST_KINDS];
    wide_time time[FIRST_KINDS]; /* ns */
};

/* From when on a call is one. */
struct first_call_limits {
    int64_t least;  /* ns */
    double ratio;   /* by the median of its name */
    size_t calls;   /* of its name */
    double waiting; /* the part of it in which the device does nothing */
};

/* Adds the first calls of a file in its chosen steps; `chosen` as in struct keyed_request. */
bool first_calls_add(struct first_calls *found, const struct trace_member *member,
                     const unsigned char *chosen, const struct first_call_limits *limits,
                     const struct stopper *stopper, struct failure *failure);

#endif
