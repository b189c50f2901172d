/*
** Scans the events of a trace that the terms of a query may match (event_filter.h), in the
** order that the query asks for. The lists of order.h give the rows of one name and the rows
** in an order. Files are merged.
*/
#ifndef TRACEDIFF_EVENT_SCAN_H
#define TRACEDIFF_EVENT_SCAN_H

#include "trace/args.h"
#include "call_trace.h"
#include "event_filter.h"

/* The events of a call. */
struct event_rows {
    struct rows rows; /* must be first */
    struct connection *connection;
    struct call_trace opened;
    size_t *first;        /* by member: the number of rows in the members before it */
    bool phases[256];     /* by phase letter: whether it is wanted */
    int64_t *limits;      /* by rank, T13; NULL: every event, counted by analyses or not */
    char *operator_name;  /* NULL: not given */
    uint32_t **operators; /* by member, then by row: T5 6; made when a query needs them */
};

int event_scan_begin(struct rows *rows, const struct wish *wish, struct row_scan **scan,
                     struct failure *failure);
int event_scan_next(struct row_scan *scan, struct position *position, bool *end,
                    struct failure *failure);
void event_scan_end(struct row_scan *scan);

/* The scan's reader of args; the scan owns it. */
struct args_reader *event_scan_args(struct row_scan *scan);

#endif
