/*
** Reads one element of traceEvents, and finds the values of the keys that matter.
**
** The fields of an event are tokens, which point into the text: they are valid until more text is
** read. Of duplicate keys the first one counts (T17).
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
    unsigned char phase; /* ph; 0 if it is not one printable ASCII character */
    bool passed_over;    /* the phase is not wanted: the keys after ph were not read */
    bool flawed;         /* a key is there twice, or a comma follows the last value */
    int64_t position;    /* 0-based index in traceEvents */
    int64_t byte;        /* the byte of the document, from 1, of its opening brace */
    struct token field[EVENT_FIELDS];
};

/* Reads the event whose opening brace is the byte before `p`. `wanted` says by phase letter
** whether to read its events: of others, the rest is skipped, which is faster. `event->byte` must
** be set. Returns the byte after the closing brace; NULL as in scan.h. */
const unsigned char *event_read(struct scan *scan, const unsigned char *p, const bool *wanted,
                                struct event *event, struct problems *problems);

/* Goes from any byte within the args of an event to the byte after them, as scan_nested_from(), and
** finds args.stream and args.correlation. */
const unsigned char *event_cross_args(struct scan *scan, const unsigned char *p,
                                      struct nesting nesting, struct event *event);

#endif
