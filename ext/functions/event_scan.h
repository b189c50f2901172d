/*
** Going through the events of a trace: those that the terms of a query may want
** (event_filter.h), in the order it wants. The rows of one name are looked up, and an order
** is walked, in the lists of order.h; several files are merged.
*/
#ifndef TRACEDIFF_EVENT_SCAN_H
#define TRACEDIFF_EVENT_SCAN_H

#include "../trace/args.h"
#include "call_trace.h"
#include "event_filter.h"

/* The events of a call. */
struct event_rows {
    struct rows rows; /* must be first */
    struct database *database;
    struct call_trace opened;
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
