/*
** Reads one element of traceEvents, and finds the values of the keys that matter.
**
** The fields of an event are tokens, which point into the text: they are valid until more text is
** read. Of duplicate keys the first one counts (T17).
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

/* A name that an event had, and the number that the user of the events gave it. */
struct known_name {
    unsigned char head[16];    /* its first bytes */
    const unsigned char *text; /* borrowed; NULL: there is none */
    uint32_t number;
    uint16_t length;
    uint16_t head_mask; /* a bit for each byte of `head` */
};

struct reading; /* memo_tree.h */

enum { EVENT_SPANS = 64 };

/* Of an event that a memo has read, the fields ts, dur, stream and correlation are there; the
** others after event_complete(). */
struct event {
    unsigned char phase; /* ph; 0 if it is not one printable ASCII character */
    bool passed_over;    /* the phase is not wanted: the fields are undefined */
    bool flawed;         /* a key is there twice, or a comma follows the last value */
    bool empty;          /* {}; undefined unless phase is 0 */
    int64_t position;    /* 0-based index in traceEvents */
    int64_t byte;        /* the byte of the document, from 1, of its opening brace */
    uint32_t form;       /* events of one form have the same cat, pid and tid, and none of these is
                         ** TOKEN_ODD_TEXT; 0: nothing is known */
    const struct known_name *known_name; /* the name, if it is known; or NULL */
    struct known_name *new_name;         /* where to keep the name: event_keep_name(); or NULL */
    struct token field[EVENT_FIELDS];
    struct token id; /* undefined for events that a memo has read */
    /* for event_complete() */
    const struct reading *reading; /* NULL: every field is there */
    enum token_kind name_kind;
    const unsigned char *spans[EVENT_SPANS], *end; /* in the text */
};

/* Gives the name of a complete event a number; the known_name of events with the same name then has
** it. `text` is the name; it must live as long as events are read. */
void event_keep_name(const struct event *event, const char *text, uint32_t number);

/* Reads the event whose opening brace is the byte before `p`. `wanted` says by phase letter
** whether to read its events: of others, the rest is skipped, which is faster. `event->byte` must
** be set. Returns the byte after the closing brace; NULL as in scan.h. */
const unsigned char *event_read(struct scan *scan, const unsigned char *p, const bool *wanted,
                                struct event *event, struct problems *problems);

/* Goes from the byte after the brace that opens the args of an event to the byte after the one that
** closes them, as scan_nested(), and finds args.stream and args.correlation. */
const unsigned char *event_cross_args(struct scan *scan, const unsigned char *p,
                                      struct event *event);

#endif
