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
#include "paths/file_name.h"

struct selection {
    enum selection_kind {
        SELECT_DEFAULT, /* ranks: none given */
        SELECT_ALL,
        SELECT_STEADY, /* iterations: all but the first and the last step (T12) */
        SELECT_FIRST,  /* iterations: the lowest step */
        SELECT_PHASE,  /* iterations: of those, the steps of a phase (T23) */
        SELECT_WORST, /* ranks: the one with the highest peak of memory */
        SELECT_AT,    /* ranks: those at a place (T7.7) */
        SELECT_LIST
    } kind;
    int64_t *values; /* SELECT_LIST; owned */
    size_t count;
    char *phase; /* SELECT_PHASE; owned */
    int64_t at[COORDINATES]; /* SELECT_AT; -1: any */
    bool job;    /* ranks: all of them, as one job (Q1) */
};

void selection_clear(struct selection *selection);

/* Makes `*to` a copy, to be cleared. False if out of memory; then it is empty. */
bool selection_copy(struct selection *to, const struct selection *from);

/* Reads a place, such as `tp=0,pp=1`, into a selection. False if the text is none. */
bool selection_read_place(struct selection *selection, const char *text);

/* Whether coordinates are those of SELECT_AT. */
bool selection_is_at(const struct selection *selection, const struct coordinates *at);

/* Sets a FAILURE_REQUEST if none of the coordinates are: `<subject> has no rank at tp=7 (tp: 0, 1;
** pp: 0)`. */
bool selection_check_place(const struct selection *selection, const struct coordinates *there,
                           size_t count, const char *subject, struct failure *failure);

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
