/*
** The events that the terms of a query may match.
**
** A term is used only if the type of its value fits the column:
** 1. rank, iteration, stream, event: an integer, or a real with an integral value;
** 2. ts: a number;
** 3. other columns: a text that does not look like a number.
** SQLite would convert any other value before comparing it, so such a term is left to SQLite. NULL
** equals nothing.
*/
#ifndef TRACEDIFF_EVENT_FILTER_H
#define TRACEDIFF_EVENT_FILTER_H

#include "sqlite/plan.h"
#include "trace/selection.h"

enum event_column {
    EVENTS_RANK,
    EVENTS_ITERATION,
    EVENTS_DEVICE,
    EVENTS_CAT,
    EVENTS_NAME,
    EVENTS_TS,
    EVENTS_DUR,
    EVENTS_PID,
    EVENTS_TID,
    EVENTS_STREAM,
    EVENTS_CORRELATION,
    EVENTS_LINK,
    EVENTS_PARENT,
    EVENTS_DEPTH,
    EVENTS_SELF_DUR,
    EVENTS_PH,
    EVENTS_ARGS,
    EVENTS_FILE,
    EVENTS_EVENT,
    EVENTS_TS_NS,
    EVENTS_DUR_NS,
    EVENTS_OPERATOR,
    EVENTS_COLUMNS
};

/* The terms and orders that the scan serves, by column (enum served). */
extern const unsigned char served_of_events[EVENTS_COLUMNS];

/* A set of integers; a row's value must be one of them. */
struct integers {
    bool given; /* if false, every value matches */
    int64_t *items;
    size_t count, capacity; /* ascending */
};

static inline bool integers_have(const struct integers *integers, int64_t value)
{
    return !integers->given || has_integer(integers->items, integers->count, value);
}

/* The conditions that a row must meet. */
struct event_filter {
    bool nothing;   /* no row can match */
    unsigned kinds; /* bit k: enum kind k */
    bool phases[256];
    struct integers ranks, iterations, streams, numbers;
    const struct term *name, *cat, *file; /* borrowed; NULL: every value matches */
    const struct term *low, *high;        /* bounds on ts */
};

/* Adds a term if it can be used. Returns a SQLite result code. */
int event_filter_take(struct event_filter *filter, const struct term *term);

void event_filter_clear(struct event_filter *filter);

/* Iterates over the values of a term. Only an IN has more than one. */
struct term_values {
    const struct term *term;
    sqlite3_value *value; /* NULL before the first */
};

/* Returns SQLITE_ROW for the next value as text, without NULLs; SQLITE_DONE after the last one, or
** an error. */
int term_next_text(struct term_values *values, const char **text);

#endif
