/*
** Going through the events of a trace: those that the terms of a query may want, in
** the order it wants.
**
** 1. A term is used if its value is of the kind of the column (integers and integral
**    reals for rank, iteration, stream and event, numbers for ts, text that does not look
**    like a number for the rest). SQLite would turn another value into one before it
**    compares, so it is left to SQLite. NULL is equal to nothing.
** 2. The rows of one name are looked up, and an order is walked, in the lists of
**    order.h; several files are merged.
*/
#ifndef TRACEDIFF_EVENT_SCAN_H
#define TRACEDIFF_EVENT_SCAN_H

#include "../sqlite/database.h"
#include "../sqlite/rows.h"
#include "../trace/args.h"
#include "../trace/trace.h"

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

/* The events of a call. */
struct event_rows {
    struct rows rows; /* must be first */
    struct database *database;
    struct trace trace;
    size_t *first;    /* by member: how many rows stand before its first */
    bool phases[256]; /* that are wanted */
    int64_t *limits;  /* by rank, T13; NULL: every event, whether it counts or not */
};

int event_scan_begin(struct rows *rows, const struct wish *wish, struct row_scan **scan,
                     struct failure *failure);
int event_scan_next(struct row_scan *scan, struct position *position, bool *end,
                    struct failure *failure);
void event_scan_end(struct row_scan *scan);

/* What a scan reads args with. */
struct args_reader *event_scan_args(struct row_scan *scan);

#endif
