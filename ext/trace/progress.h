/*
** Shows the progress of a load in a line on stderr. The line appears after half a second, is
** rewritten in place at most ten times per second, and is erased at the end. TRACEDIFF_PROGRESS=0
** or 1 in the environment turns it off or on; by default it appears only on a terminal.
*/
#ifndef TRACEDIFF_PROGRESS_H
#define TRACEDIFF_PROGRESS_H

#include "base/stopper.h"

struct cache_request;

struct progress {
    const struct stopper *stopper;
    struct cache_request *const *requests; /* the files being read */
    size_t count;
    int64_t next; /* ns of the monotonic clock: time of the next write; INT64_MAX: never */
    bool shown;   /* a line is visible, and no other thread of the process shows one */
};

void progress_begin(struct progress *progress, struct cache_request *const *requests, size_t count,
                    const struct stopper *stopper);

/* A stopper for the calling thread that also writes the line. The argument is a struct progress. */
bool progress_stop(void *argument);

/* Erases the line. */
void progress_end(struct progress *progress);

#endif
