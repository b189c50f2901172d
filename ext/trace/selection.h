/*
** A user's selection of ranks, iterations and device type, and the errors that list what is
** available when a selected value is not.
*/
#ifndef TRACEDIFF_SELECTION_H
#define TRACEDIFF_SELECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/failure.h"
#include "base/integers.h"

struct selection {
    enum selection_kind {
        SELECT_DEFAULT, /* ranks: none given */
        SELECT_ALL,
        SELECT_STEADY, /* iterations: all but the first and the last step (T12) */
        SELECT_FIRST,  /* iterations: the lowest step */
        SELECT_PHASE,  /* iterations: of those, the steps of a phase (T23) */
        SELECT_WORST, /* ranks: the one with the highest peak of memory */
        SELECT_LIST
    } kind;
    int64_t *values; /* SELECT_LIST; owned */
    size_t count;
    char *phase; /* SELECT_PHASE; owned */
    bool job;    /* ranks: all of them, as one job (Q1) */
};

void selection_clear(struct selection *selection);

/* Makes `*to` a copy, to be cleared. False if out of memory; then it is empty. */
bool selection_copy(struct selection *to, const struct selection *from);

/* Which events count (T9). */
enum device_type {
    DEVICE_ALL,
    DEVICE_CPU, /* host events */
    DEVICE_GPU  /* device work, without annotations and syncs */
};

/* Sets a FAILURE_REQUEST for the first value of a selection that an ascending list lacks:
** `<subject> has no <what> 7 (<what>s: 0, 1, 2)`. */
bool selection_check(const struct selection *selection, const int64_t *there, size_t there_count,
                     const char *subject, const char *what, struct failure *failure);

#endif
