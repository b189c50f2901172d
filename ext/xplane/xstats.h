/*
** Stats: key-value data of an event, or of all events with a name.
**
** 1. Keys are names of the plane. Stats with unknown keys or values are ignored.
** 2. Stats of an event override stats of its name. For duplicate keys, the last stat counts.
*/
#ifndef TRACEDIFF_XSTATS_H
#define TRACEDIFF_XSTATS_H

#include "xspace.h"

enum stat_type {
    STAT_NOTHING,
    STAT_DOUBLE = 2, /* values are field numbers */
    STAT_UNSIGNED,
    STAT_SIGNED,
    STAT_TEXT,
    STAT_BYTES,
    STAT_REFERENCE /* a text: the name of another stat */
};

struct xstat {
    struct protobuf message; /* the stat itself */
    struct stat_name *key;   /* NULL: unknown */
    enum stat_type type;
    struct protobuf_field value;
    const char *text; /* for TEXT and REFERENCE; NULL for an unknown reference */
    size_t length;
};

struct xstat xstat_read(const struct xspace *space, const struct xplane *plane,
                        struct protobuf message);

/* The integer of a stat, also if written as text; NUMBER_NONE otherwise. */
int64_t xstat_integer(const struct xstat *stat);

/* Fields of an event, or of an event name. Missing fields are zero. */
struct xsaid {
    int64_t name, offset, duration; /* name: its id; times in ps */
    bool occurrences;               /* a count of events instead of an event */
    const char *text;               /* for a name: its display text; may be NULL */
    size_t length;
};

/* Reads fields of an event, or of a name's message, which is then broken if it is malformed. */
struct xsaid xevent_read(struct protobuf *message);
struct xsaid xname_read(struct protobuf *message);

/* Writes a stat in the form for event names; returns the byte after it. It never gets longer. */
unsigned char *xstat_write_of_name(unsigned char *to, const struct xstat *stat);

/* Advances to the next stat of an event, or of a name. False after the last. */
bool xstat_of_event(const struct xevent *event, struct protobuf *message, struct xstat *stat);
bool xstat_of_name(const struct xevent *event, struct protobuf *message, struct xstat *stat);

#endif
