/*
** Long work regularly asks whether to stop, so that Ctrl-C takes effect soon, and says how far it
** is.
*/
#ifndef TRACEDIFF_STOPPER_H
#define TRACEDIFF_STOPPER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "failure.h"

struct stopper {
    bool (*stop)(void *argument); /* NULL: never */
    void *argument;
    _Atomic int64_t *read; /* bytes of the file on disk read so far; NULL: not asked for */
};

/* False if the work is to end; sets FAILURE_INTERRUPTED. */
static inline bool stopper_ask(const struct stopper *stopper, struct failure *failure)
{
    return !stopper->stop || !stopper->stop(stopper->argument) ||
           failure_set(failure, FAILURE_INTERRUPTED, "interrupted");
}

/* Asks once in ROUND iterations; `i` is a loop's counter. */
static inline bool stopper_goes_on(const struct stopper *stopper, size_t i, struct failure *failure)
{
    enum { ROUND = 1 << 13 /* iterations between two questions */ };
    return (i + 1) % ROUND != 0 || stopper_ask(stopper, failure);
}

#endif
