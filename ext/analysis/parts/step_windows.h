/*
** The time window of each step of a file (A2).
*/
#ifndef TRACEDIFF_STEP_WINDOWS_H
#define TRACEDIFF_STEP_WINDOWS_H

#include "trace/trace.h"

#define TRACK_NONE UINT32_MAX

struct window {
    int64_t start, end; /* ns, [start, end); empty if end <= start */
    int64_t iteration;  /* number of the step; NUMBER_NONE: the file has no steps */
    uint32_t step;      /* index in steps->iterations, or STEP_NONE */
    uint32_t track;     /* thread of the step, or TRACK_NONE */
};

struct windows {
    struct window *items; /* sorted by start; owned */
    size_t count;
};

/* Makes the windows of a file on the device's clock or on the host's. */
bool windows_make(struct windows *windows, const struct trace_member *member, bool device_clock,
                  const struct stopper *stopper, struct failure *failure);

void windows_clear(struct windows *windows);

#endif
