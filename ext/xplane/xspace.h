/*
** XSpace, the protobuf in which XLA writes a profile (*.xplane.pb): what it says of its planes,
** lines and names, and its events, one at a time.
**
** 1. A plane names what its events refer to after them. So a file is read once for what it names,
**    and then for its events.
** 2. Events are given in the order of XLA's own JSON: those of planes `/host:CPU`, then those of
**    devices; each by plane, line and event, as they are in the file. The devices are the planes
**    `/device:GPU:...`; without one `/device:TPU:...`, without one `/device:CUSTOM:...`.
** 3. A field with a type that it cannot have is one that is not known. Of several values of a field
**    or a key the last counts.
** 4. A file that is damaged or ends too early gives the planes that are whole.
** 5. What is kept of a file takes at most MOST_KEPT bytes. A file that names more is damaged there.
*/
#ifndef TRACEDIFF_XSPACE_H
#define TRACEDIFF_XSPACE_H

#include "reader/protobuf.h"
#include "text/number.h"
#include "text/problems.h"

enum { MOST_KEPT = 256 << 20 };

/* The plane that says when the profile began. */
#define XSPACE_TASK "Task Environment"

/* Bytes that are kept, in `kept`. */
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
    size_t place; /* xstats.h */
};

/* What stats say of a row. Names are ids plus 1, or 0. */
struct row_stats {
    int64_t correlation, stream, step_number; /* NUMBER_NONE */
    uint32_t step, op, module;
};

struct event_name { /* XEventMetadata */
    int64_t id;
    struct kept_bytes message;
    uint32_t name; /* while rows are read: id of a name, plus 1; 0: not known */
    bool read;     /* that, and `said` */
    struct row_stats said;
};

struct xline {
    int64_t timestamp; /* ns */
    uint32_t tid;
    uint32_t track; /* while rows are read: of the file */
    struct kept_bytes name;
};

enum plane_role { PLANE_OTHER, PLANE_HOST, PLANE_DEVICE };

struct xplane {
    int64_t id;
    struct kept_bytes name; /* the first that it gives */
    enum plane_role role;
    struct kept_bytes *stats; /* of XSPACE_TASK: messages */
    size_t stat_count, stat_capacity;
    struct xline *lines;
    size_t line_count, line_capacity;
    struct stat_name *stat_names; /* by id, like `event_names` */
    size_t stat_name_count, stat_name_capacity;
    struct event_name *event_names;
    size_t event_name_count, event_name_capacity;
};

struct xspace {
    const char *path;                /* borrowed */
    struct protobuf_options options; /* to open the file again */
    struct protobuf_file *file;
    unsigned char *kept;
    size_t kept_length, kept_capacity;
    size_t memory; /* bytes that are kept in all (rule 5) */
    struct xplane *planes;
    size_t plane_count, plane_capacity; /* whole ones */
    struct kept_bytes host;             /* the first host name */
    struct problems problems;
    bool damaged, unsure; /* unsure: zlib might have given other bytes */
    struct failure trouble;

    /* where xspace_next() is */
    enum plane_role role;
    size_t plane, line;
    int depth;     /* 0: between planes, 1: in a plane, 2: in a line */
    int64_t event; /* number of the next one */
};

struct xevent {
    const struct xspace *space;
    struct xplane *plane;
    const struct xline *line;
    struct protobuf message; /* valid until the next one */
    int64_t event, byte;     /* byte: from 1 */
    bool too_long;           /* longer than 16 MiB: there is no message */
};

/* Opens a file and reads what it names. False on failure; xspace_close() is needed in any case. */
bool xspace_open(struct xspace *space, const char *path, const struct protobuf_options *options,
                 struct failure *failure);

/* Gives the next event. 1; 0 at the end; -1 on failure. */
int xspace_next(struct xspace *space, struct xevent *event, struct failure *failure);

void xspace_close(struct xspace *space);

/* NULL if there is none. */
struct stat_name *plane_stat_name(const struct xplane *plane, int64_t id);
struct event_name *plane_event_name(const struct xplane *plane, int64_t id);

static inline const char *xspace_text(const struct xspace *space, struct kept_bytes span)
{
    return space->kept ? (const char *)space->kept + span.at : ""; /* of no bytes, then */
}

/* Whether the first bytes of a file, as many as are at hand, are those of an XSpace. */
bool xspace_is(const unsigned char *bytes, size_t length);

#endif
