/*
** First calls, which load or set up something: warm-up (C21).
*/
#ifndef TRACEDIFF_FIRST_CALLS_H
#define TRACEDIFF_FIRST_CALLS_H

#include "base/wide.h"
#include "trace/trace.h"

/* The purpose of a call, by its name. */
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

/* The limits for a first call. */
struct first_call_limits {
    int64_t least;  /* minimum duration in ns */
    double ratio;   /* minimum ratio to the median of calls of its name */
    size_t calls;   /* minimum number of calls of its name */
    double waiting; /* minimum part of the call while the device is idle */
};

/* Adds the first calls in the chosen steps of a file. `chosen` as in struct keyed_request. */
bool first_calls_add(struct first_calls *found, const struct trace_member *member,
                     const unsigned char *chosen, const struct first_call_limits *limits,
                     const struct stopper *stopper, struct failure *failure);

#endif
