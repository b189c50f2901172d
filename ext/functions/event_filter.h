/*
** Which events the terms of a query may want.
**
** A term is used if its value is of the kind of the column: integers and integral reals for
** rank, iteration, stream and event, numbers for ts, text that does not look like a number for
** the rest. SQLite would turn another value into one before it compares, so it is left to
** SQLite. NULL is equal to nothing.
*/
#ifndef TRACEDIFF_EVENT_FILTER_H
#define TRACEDIFF_EVENT_FILTER_H

#include "../sqlite/plan.h"
#include "../trace/select.h"

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
    EVENTS_COLUMNS
};

/* Which of these terms and orders the scan serves (enum served). */
extern const unsigned char served_of_events[EVENTS_COLUMNS];

/* Integers that a column must have one of. */
struct integers {
    bool given; /* else anything goes */
    int64_t *items;
    size_t count, capacity; /* ascending */
};

static inline bool integers_have(const struct integers *integers, int64_t value)
{
    return !integers->given || has_integer(integers->items, integers->count, value);
}

/* What a row must have. */
struct event_filter {
    bool nothing;   /* none has it */
    unsigned kinds; /* a bit for each enum kind */
    bool phases[256];
    struct integers ranks, iterations, streams, numbers;
    const struct term *name, *cat, *file; /* borrowed; NULL: anything goes */
    const struct term *low, *high;        /* of ts */
};

/* Takes a term, if it can be used; a code of SQLite. */
int event_filter_take(struct event_filter *filter, const struct term *term);

void event_filter_clear(struct event_filter *filter);

/* The values of a term, which is one unless it is an IN. */
struct term_values {
    const struct term *term;
    sqlite3_value *value; /* NULL before the first */
};

/* SQLITE_ROW for the next value, SQLITE_DONE after the last one, or an error. */
int term_next(struct term_values *values);

/* The same for the next text, also of another value, but NULL. */
int term_next_text(struct term_values *values, const char **text);

#endif
