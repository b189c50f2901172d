/*
** One element of traceEvents: which keys it has, and where their values stand.
**
** An event is tokens into the text it was read from: they are good until more
** text is read. Of duplicate keys the first counts (T17).
*/
#ifndef TRACEDIFF_EVENT_H
#define TRACEDIFF_EVENT_H

#include "problems.h"
#include "scan.h"

enum event_field {
    EVENT_PHASE,
    EVENT_NAME,
    EVENT_CAT,
    EVENT_PID,
    EVENT_TID,
    EVENT_TS,
    EVENT_DUR,
    EVENT_ARGS,
    EVENT_STREAM,      /* args.stream */
    EVENT_CORRELATION, /* args.correlation */
    EVENT_FIELDS
};

struct event {
    unsigned char phase; /* ph; 0 if it is not one letter */
    bool passed_over;    /* a phase nobody wanted: the fields are not all there */
    bool flawed;         /* a key is there twice, or a comma stands behind the last value */
    int64_t position;    /* 0-based place in traceEvents */
    int64_t byte;        /* of its opening brace, from 1 */
    struct token field[EVENT_FIELDS];
};

/* Reads the event whose opening brace stands before `p`. `wanted` says of each
** phase letter whether its events are to be read; others are crossed as fast as
** can be. Returns the byte after the closing brace; NULL as in scan.h. */
const unsigned char *event_read(struct scan *scan, const unsigned char *p, const bool *wanted,
                                struct event *event, struct problems *problems);

/* From any byte within its args to the byte behind them, as scan_nested_from(), picking up
** what is wanted of them. */
const unsigned char *event_cross_args(struct scan *scan, const unsigned char *p,
                                      struct nesting nesting, struct event *event);

#endif
