/*
** The snapshots of an allocator that an argument of a call names, and their ranks.
*/
#ifndef TRACEDIFF_CALL_SNAPSHOT_H
#define TRACEDIFF_CALL_SNAPSHOT_H

#include "snapshot/annotated.h"
#include "snapshot/snapshot_load.h"
#include "sqlite/arguments.h"

struct snapshot_file {
    const char *path; /* borrowed */
    bool listed;      /* found in a directory, so it may not be a snapshot */
    int64_t rank;     /* from the name, else the lowest free number (T7) */
};

struct call_snapshots {
    struct trace_paths paths;
    struct snapshot_file *files; /* by rank, then path */
    size_t count;
    struct selection ranks;
};

/* Finds the files of an argument, and reads the argument for ranks, which defaults to the lowest.
** If its index is 0, there is none, and all ranks are chosen. Close the snapshots on failure,
** too. */
bool call_snapshots_find(struct call *call, int argument, int ranks,
                         struct call_snapshots *snapshots);

void call_snapshots_close(struct call_snapshots *snapshots);

/* Opens a file. NULL on failure, and if a listed file is not a snapshot. */
struct snapshot *call_snapshot_open(struct call *call, const struct snapshot_file *file);

/* Takes a snapshot of a rank; false on failure, with call->failure filled. */
typedef bool take_snapshot(struct call *call, struct snapshot *snapshot, int64_t rank, void *to);

/* Calls `take` for each snapshot of the chosen ranks in turn. It is an error if there is none. */
bool call_snapshots_each(struct call *call, const struct call_snapshots *snapshots,
                         take_snapshot *take, void *to);

/* A complete producer for functions with the arguments below: `add` adds the rows of each snapshot
** to a struct result. */
int call_snapshot_rows(struct call *call, struct rows **rows, take_snapshot *add);

#define SNAPSHOT_ARGUMENT \
    "snapshot", TAKES_TEXT, true, "directory, file, pattern or JSON array of these"

enum { SNAPSHOT_PATH, SNAPSHOT_RANKS };
#define SNAPSHOT_ARGUMENTS                     \
    {SNAPSHOT_ARGUMENT},                       \
        {"ranks", TAKES_RANKS_OR_WORST, false, \
         "integer, JSON array, 'all' or 'worst' (the rank with the highest peak); default all"}

/* Finds the files of a function with these arguments. */
static inline bool call_snapshots_all(struct call *call, struct call_snapshots *snapshots)
{
    int ranks = call->values[SNAPSHOT_RANKS] ? SNAPSHOT_RANKS : 0;
    return call_snapshots_find(call, SNAPSHOT_PATH, ranks, snapshots);
}

#endif
