/*
** Scans the events of a trace that the terms of a query may match (event_filter.h), in the order of
** the query. The lists of order.h give the rows of one name and sorted rows. Rows of several files
** are merged.
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
    size_t *first;        /* by member: the number of rows in earlier members */
    bool phases[256];     /* by phase letter: whether it is wanted */
    int64_t *limits;      /* by rank: the limit in T13; NULL: events beyond it count, too */
    char *operator_name;  /* NULL: not given */
    uint32_t **operators; /* by member, then by row: operators in T5.6; found on demand */
};

int event_scan_begin(struct rows *rows, const struct wish *wish, struct row_scan **scan,
                     struct failure *failure);
int event_scan_next(struct row_scan *scan, struct position *position, bool *end,
                    struct failure *failure);
void event_scan_end(struct row_scan *scan);

/* Returns the scan's reader of args, which the scan owns. */
struct args_reader *event_scan_args(struct row_scan *scan);

#endif
