/*
** What a user asks for: ranks, iterations, a kind of device. And the errors that
** say what there is when it is not there.
*/
#ifndef TRACEDIFF_SELECT_H
#define TRACEDIFF_SELECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../reader/failure.h"

struct selection {
    enum selection_kind {
        SELECT_DEFAULT, /* nothing was said */
        SELECT_ALL,
        SELECT_STEADY, /* iterations: without the first and the last step (T12) */
        SELECT_LIST
    } kind;
    int64_t *values; /* SELECT_LIST; owned */
    size_t count;
};

void selection_clear(struct selection *selection);

/* T9: which events count. */
enum device_type {
    DEVICE_ALL,
    DEVICE_CPU, /* host events */
    DEVICE_GPU  /* device work: without annotations and syncs */
};

/* Ascending, each once; returns how many are left. */
size_t sort_integers(int64_t *values, size_t count);

/* Whether an ascending list has a value. */
bool has_integer(const int64_t *values, size_t count, int64_t value);

/* The first value of a selection that an ascending list lacks makes a
** FAILURE_REQUEST: `<subject> has no <what> 7 (<what>s: 0, 1, 2)`. */
bool selection_check(const struct selection *selection, const int64_t *there, size_t there_count,
                     const char *subject, const char *what, struct failure *failure);

#endif
