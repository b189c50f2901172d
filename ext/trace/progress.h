/*
** A line on stderr that says how far a load is: written after half a second, rewritten in place at
** most ten times per second, erased at the end. TRACEDIFF_PROGRESS=0 or 1 in the environment turns
** it off or on; otherwise it is written only to a terminal.
*/
#ifndef TRACEDIFF_PROGRESS_H
#define TRACEDIFF_PROGRESS_H

#include "base/stopper.h"

struct cache_request;

struct progress {
    const struct stopper *stopper;
    struct cache_request *const *requests; /* the files that are read */
    size_t count;
    int64_t next; /* ns of the monotonic clock: when to write; INT64_MAX: never */
    bool shown;   /* a line was written, and no other thread of the process writes one */
};

void progress_begin(struct progress *progress, struct cache_request *const *requests, size_t count,
                    const struct stopper *stopper);

/* A stopper for the calling thread, which also writes the line. The argument is a
** struct progress. */
bool progress_stop(void *argument);

/* Erases the line. */
void progress_end(struct progress *progress);

#endif
