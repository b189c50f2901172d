/*
** Stats: what an XSpace says of an event, or of all events of a name, by key.
**
** 1. Keys are names of the plane. A stat whose key or value is not known is left out.
** 2. What an event says goes before what its name says; of several stats with one key the last
**    counts.
*/
#ifndef TRACEDIFF_XSTATS_H
#define TRACEDIFF_XSTATS_H

#include "xspace.h"

enum stat_type {
    STAT_NOTHING,
    STAT_DOUBLE = 2, /* as the numbers of the fields */
    STAT_UNSIGNED,
    STAT_SIGNED,
    STAT_TEXT,
    STAT_BYTES,
    STAT_REFERENCE /* a text: the name of a stat */
};

struct xstat {
    struct protobuf message; /* itself */
    struct stat_name *key;   /* NULL: not known */
    enum stat_type type;
    struct protobuf_field value;
    const char *text; /* of TEXT and REFERENCE; of an unknown reference NULL */
    size_t length;
};

struct xstat xstat_read(const struct xspace *space, const struct xplane *plane,
                        struct protobuf message);

/* A stat that is an integer, or the text of one; NUMBER_NONE. */
int64_t xstat_integer(const struct xstat *stat);

/* What an event, or the name of events, says. Fields that are not there are zero. */
struct xsaid {
    int64_t name, offset, duration; /* name: its id; ps */
    bool occurrences;               /* it counts events, and is none */
    const char *text;               /* of a name: the text that is shown; may be NULL */
    size_t length;
};

/* Reads fields of an event, and of the message of a name; then `message` is broken if the bytes
** are. */
struct xsaid xevent_read(struct protobuf *message);
struct xsaid xname_read(struct protobuf *message);

/* Writes a stat as one of a name; returns the byte after it. It is not longer than it was. */
unsigned char *xstat_write_of_name(unsigned char *to, const struct xstat *stat);

/* Goes to the next stat of an event, or of a name. False after the last one. */
bool xstat_of_event(const struct xevent *event, struct protobuf *message, struct xstat *stat);
bool xstat_of_name(const struct xevent *event, struct protobuf *message, struct xstat *stat);

#endif
