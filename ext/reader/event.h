/*
** Reads one element of traceEvents, and finds the values of relevant keys.
**
** The fields of an event are tokens that point into the text: they are valid until more text is
** read. For duplicate keys the first value counts (T17).
*/
#ifndef TRACEDIFF_EVENT_H
#define TRACEDIFF_EVENT_H

#include "text/problems.h"
#include "text/scan.h"

enum event_field {
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

/* A known name of events, and the number that the caller gave it. */
struct known_name {
    unsigned char head[16];    /* its first bytes */
    const unsigned char *text; /* borrowed; NULL: unused */
    uint32_t number;
    uint16_t length;
    uint16_t head_mask; /* a bit for each byte in use of `head` */
};

struct reading; /* see memo_tree.h */

enum { EVENT_SPANS = 64 };

/* An event. For one from a memo, ts, dur, stream and correlation are valid at once, other fields
** only after event_complete(). */
struct event {
    unsigned char phase; /* ph; 0 unless it is one printable ASCII character */
    bool passed_over;    /* the phase is not wanted, so the fields are undefined */
    bool flawed;         /* it has a duplicate key, or a comma after its last value */
    bool empty;          /* {}; undefined unless phase is 0 */
    int64_t position;    /* 0-based index in traceEvents */
    int64_t byte;        /* offset of its opening brace in the document, from 1 */
    uint32_t form;       /* events with equal forms have equal cat, pid and tid, none of them
                         ** TOKEN_ODD_TEXT; 0: unknown */
    const struct known_name *known_name; /* its name if known; or NULL */
    struct known_name *new_name;         /* slot for event_keep_name(); or NULL */
    struct token field[EVENT_FIELDS];
    struct token id; /* undefined if a memo has read the event */
    /* for event_complete() */
    const struct reading *reading; /* NULL: every field is valid */
    enum token_kind name_kind;
    const unsigned char *spans[EVENT_SPANS], *end; /* in the text */
};

/* Gives the name of a complete event a number, which later events with the name find in known_name.
** `text` is the name; it must live as long as events are read. */
void event_keep_name(const struct event *event, const char *text, uint32_t number);

/* Reads the event whose opening brace is the byte before `p`. `wanted` says by phase letter whether
** to read its events. Events of other phases are skipped, which is faster. `event->byte` must be
** set. Returns the byte after the closing brace; NULL as in scan.h. */
const unsigned char *event_read(struct scan *scan, const unsigned char *p, const bool *wanted,
                                struct event *event, struct problems *problems);

/* Skips from the byte after the opening brace of an event's args to the byte after the closing
** brace, like scan_nested(), and finds args.stream and args.correlation. */
const unsigned char *event_cross_args(struct scan *scan, const unsigned char *p,
                                      struct event *event);

#endif
