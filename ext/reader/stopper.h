/*
** Long work asks now and then whether to stop: a million events take longer than anybody
** who has pressed Ctrl-C wants to wait.
*/
#ifndef TRACEDIFF_STOPPER_H
#define TRACEDIFF_STOPPER_H

#include <stdbool.h>
#include <stddef.h>

#include "failure.h"

struct stopper {
    bool (*stop)(void *argument); /* NULL: never */
    void *argument;
};

/* False if the work is to end: FAILURE_INTERRUPTED. */
static inline bool stopper_ask(const struct stopper *stopper, struct failure *failure)
{
    return !stopper->stop || !stopper->stop(stopper->argument) ||
           failure_set(failure, FAILURE_INTERRUPTED, "interrupted");
}

/* Asks if `i`, a loop's counter, is a round number. */
static inline bool stopper_goes_on(const struct stopper *stopper, size_t i, struct failure *failure)
{
    enum { ROUND = 1 << 13 /* iterations between two questions */ };
    return i % ROUND != ROUND - 1 || stopper_ask(stopper, failure);
}

#endif
