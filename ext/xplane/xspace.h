/*
** XSpace, the protobuf of XLA's profiles (*.xplane.pb): its planes, lines and names, and its events
** one by one.
**
** 1. The names of a plane come after its events. So the file is read once for names, and again for
**    events.
** 2. Events come in the order of XLA's own JSON: planes `/host:CPU` first, then devices; each by
**    plane, line and event, in file order. The devices are the planes `/device:GPU:...`; without
**    any, `/device:TPU:...`; without any, `/device:CUSTOM:...`.
** 3. A field with the wrong wire type counts as unknown. If a field or key has several values, the
**    last counts.
** 4. A damaged or truncated file gives its complete planes.
** 5. At most MOST_KEPT bytes of a file are kept. A file with more names is damaged at that place.
*/
#ifndef TRACEDIFF_XSPACE_H
#define TRACEDIFF_XSPACE_H

#include "reader/protobuf.h"
#include "text/number.h"
#include "text/problems.h"

enum { MOST_KEPT = 256 << 20 };

/* The plane with the start of the profile. */
#define XSPACE_TASK "Task Environment"

/* A range of bytes in `kept`. */
struct kept_bytes {
    size_t at, length;
};

enum stat_use {
    STAT_OTHER,
    STAT_CORRELATION,
    STAT_STREAM,
    STAT_STEP_NAME,
    STAT_STEP_NUMBER,
    STAT_HLO_OP,
    STAT_HLO_MODULE,
    STAT_PROFILE_START
};

struct stat_name { /* XStatMetadata */
    int64_t id;
    struct kept_bytes name;
    enum stat_use use;
    size_t place; /* see xstats.h */
};

/* Stats of a row. Names are ids plus 1, or 0. */
struct row_stats {
    int64_t correlation, stream, step_number; /* NUMBER_NONE */
    uint32_t step, op, module;
};

struct event_name { /* XEventMetadata */
    int64_t id;
    struct kept_bytes message;
    uint32_t name; /* while rows are read: name id plus 1; 0: unknown */
    bool read;     /* `name` and `said` are valid */
    struct row_stats said;
};

struct xline {
    int64_t timestamp; /* ns */
    uint32_t tid;
    uint32_t track; /* while rows are read: track of the file */
    struct kept_bytes name;
};

enum plane_role { PLANE_OTHER, PLANE_HOST, PLANE_DEVICE };

struct xplane {
    int64_t id;
    struct kept_bytes name; /* the first name in the file */
    enum plane_role role;
    struct kept_bytes *stats; /* for XSPACE_TASK: messages */
    size_t stat_count, stat_capacity;
    struct xline *lines;
    size_t line_count, line_capacity;
    struct stat_name *stat_names; /* by id; so are `event_names` */
    size_t stat_name_count, stat_name_capacity;
    struct event_name *event_names;
    size_t event_name_count, event_name_capacity;
};

struct xspace {
    const char *path;                /* borrowed */
    struct protobuf_options options; /* for reopening the file */
    struct protobuf_file *file;
    unsigned char *kept;
    size_t kept_length, kept_capacity;
    size_t memory; /* total bytes kept (rule 5) */
    struct xplane *planes;
    size_t plane_count, plane_capacity; /* complete planes */
    struct kept_bytes host;             /* the first host name */
    struct problems problems;
    bool damaged, unsure; /* unsure: zlib might decode other bytes */
    struct failure trouble;

    /* position of xspace_next() */
    enum plane_role role;
    size_t plane, line;
    int depth;     /* 0: between planes, 1: in a plane, 2: in a line */
    int64_t event; /* number of the next event */
};

struct xevent {
    const struct xspace *space;
    struct xplane *plane;
    const struct xline *line;
    struct protobuf message; /* valid until the next event */
    int64_t event, byte;     /* byte: from 1 */
    bool too_long;           /* longer than 16 MiB, so without a message */
};

/* Opens a file and reads its names. False on failure; xspace_close() is needed in any case. */
bool xspace_open(struct xspace *space, const char *path, const struct protobuf_options *options,
                 struct failure *failure);

/* Gives the next event. 1; 0 at the end; -1 on failure. */
int xspace_next(struct xspace *space, struct xevent *event, struct failure *failure);

void xspace_close(struct xspace *space);

/* Finds a stat name by id; NULL if missing. */
struct stat_name *plane_stat_name(const struct xplane *plane, int64_t id);
struct event_name *plane_event_name(const struct xplane *plane, int64_t id);

static inline const char *xspace_text(const struct xspace *space, struct kept_bytes span)
{
    return space->kept ? (const char *)space->kept + span.at : ""; /* all spans are empty */
}

/* Whether the available first bytes of a file look like an XSpace. */
bool xspace_is(const unsigned char *bytes, size_t length);

#endif
