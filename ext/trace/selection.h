/*
** The ranks, iterations and device type selected by the user. If a selected value does not exist,
** the error lists the available ones.
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
        SELECT_STEADY, /* iterations: all steps but the first and the last (T12) */
        SELECT_FIRST,  /* iterations: the lowest step */
        SELECT_PHASE,  /* iterations: the steady steps of a phase (T23) */
        SELECT_WORST, /* ranks: the one with the highest peak of memory */
        SELECT_AT,    /* ranks: those at given coordinates (T7.7) */
        SELECT_LIST
    } kind;
    int64_t *values; /* SELECT_LIST; owned */
    size_t count;
    char *phase; /* SELECT_PHASE; owned */
    int64_t at[COORDINATES]; /* SELECT_AT; -1: any */
    bool job;    /* ranks: all, as one job (Q1) */
};

void selection_clear(struct selection *selection);

/* Copies a selection; the caller clears the copy. False if out of memory, with an empty copy. */
bool selection_copy(struct selection *to, const struct selection *from);

/* Reads coordinates such as `tp=0,pp=1` into a selection. False for any other text. */
bool selection_read_place(struct selection *selection, const char *text);

/* Whether coordinates match SELECT_AT. */
bool selection_is_at(const struct selection *selection, const struct coordinates *at);

/* Sets a FAILURE_REQUEST if none of the coordinates match: `<subject> has no rank at tp=7 (tp: 0,
** 1; pp: 0)`. */
bool selection_check_place(const struct selection *selection, const struct coordinates *there,
                           size_t count, const char *subject, struct failure *failure);

/* The events that count (T9). */
enum device_type {
    DEVICE_ALL,
    DEVICE_CPU, /* host events */
    DEVICE_GPU  /* device work except annotations and syncs */
};

/* Sets a FAILURE_REQUEST for the first value of a selection that an ascending list lacks:
** `<subject> has no <what> 7 (<what>s: 0, 1, 2)`. */
bool selection_check(const struct selection *selection, const int64_t *there, size_t there_count,
                     const char *subject, const char *what, struct failure *failure);

#endif
