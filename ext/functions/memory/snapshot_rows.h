/*
** Rows that are made from snapshots when SQLite reads them, with a number of rows per device.
*/
#ifndef TRACEDIFF_SNAPSHOT_ROWS_H
#define TRACEDIFF_SNAPSHOT_ROWS_H

#include "call_snapshot.h"

/* A device of a snapshot. */
struct snapshot_part {
    struct snapshot *snapshot; /* one reference */
    int64_t rank;
    const struct memory_device *device;
    int64_t first; /* number of its first row */
    int64_t *sums[2]; /* sums that the function needs, by event; owned */
};

struct snapshot_rows {
    struct rows rows; /* must be first */
    struct connection *connection; /* borrowed */
    struct snapshot_part *parts;
    size_t count, capacity;
};

/* A complete producer for functions with SNAPSHOT_ARGUMENTS: `size` returns the number of rows of a
** device; `prepare`, which may be NULL, fills its sums. */
int snapshot_rows_make(struct call *call, const struct rows_methods *methods,
                       size_t (*size)(const struct memory_device *device),
                       bool (*prepare)(struct call *call, struct snapshot_part *part),
                       struct rows **rows);

/* Returns the part that contains a row. */
const struct snapshot_part *snapshot_rows_part(const struct rows *rows, int64_t row);

void snapshot_rows_destroy(struct rows *rows);

/* Return a value to SQLite. */
void give_number(sqlite3_context *context, int64_t number); /* NUMBER_NONE: NULL */
void give_name(sqlite3_context *context, const struct name *name); /* NULL: NULL */
int give_path(sqlite3_context *context, const struct snapshot *snapshot);

#endif
