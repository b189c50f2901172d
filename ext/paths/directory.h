/*
** Finds the files of a trace from the text a user writes: a directory, a file, a glob pattern,
** or several of these.
*/
#ifndef TRACEDIFF_DIRECTORY_H
#define TRACEDIFF_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/stopper.h"
#include "platform/files.h"

/* The files of a directory that may be traces, for error texts. */
#define TRACE_FILES                                                                     \
    "*.json, *.gz, *.sqlite, *.sqlite3, *.db, *.xplane.pb, *.pftrace or *.perfetto-trace file"
#define LOG_FILES "dedicated_log_torch_trace_*.log or *.log.gz file"
#define SNAPSHOT_FILES "*.pickle, *.pickle.gz or *.pkl file"

struct trace_path {
    char *path;   /* owned */
    bool listed;  /* found in a directory, not named, so it need not be a trace (T16) */
    size_t again; /* how often the file was given besides the first time */
    bool identified; /* `identity` is that of the file when its directory was listed */
    struct identity identity;
};

struct trace_paths {
    struct trace_path *items;
    size_t count, capacity;
    bool snapshots; /* directories list snapshots of an allocator (M1) instead of traces */
    bool logs;      /* or logs of TORCH_TRACE (CL1) */
};

/* Adds the files of one text:
** 1. `~/` at its beginning is the home directory
** 2. a directory: its *.json, *.gz, *.sqlite, *.sqlite3, *.db, *.xplane.pb, *.pftrace and
**    *.perfetto-trace files (letters of any case), or those of snapshots: *.pickle, *.pickle.gz and
**    *.pkl, or of logs: dedicated_log_torch_trace_*.log and *.log.gz, which are no traces. It is
**    not searched recursively; names that begin with a dot and directories are left out, and
**    X.trace.json.gz beside X.xplane.pb (Y1)
** 3. another path that exists: that file
** 4. otherwise, with `*`, `?` or `[` in it: the files that match the pattern
** Failures: FAILURE_REQUEST if no file is found or the text is a URL, FAILURE_READ,
** FAILURE_MEMORY, FAILURE_INTERRUPTED. */
bool paths_add(struct trace_paths *paths, const char *text, const struct stopper *stopper,
               struct failure *failure);

/* Adds the runs of a text: each directory that a pattern matches, unless it matches a file that may
** be a trace, too, which is an error; any other text is one run. Failures: as paths_add(). */
bool paths_add_runs(struct trace_paths *runs, const char *text, const struct stopper *stopper,
                    struct failure *failure);

/* Sets the failure for a text that has no files; it says what to write instead where that is
** known. Always returns false. */
bool paths_none(const struct trace_paths *paths, const char *text, const struct stopper *stopper,
                struct failure *failure);

/* Sorts the paths by name and removes doubles; `again` counts those removed. */
void paths_sort(struct trace_paths *paths);

/* Merges paths that are one file or directory. */
bool paths_join(struct trace_paths *paths, const struct stopper *stopper, struct failure *failure);

/* The index of a path among the first `count` paths, which must be sorted and contain it. */
size_t paths_find(const struct trace_paths *paths, size_t count, const char *path);

/* Frees the path at `i`, a second path of the file at `first`. Its place is left empty. */
void paths_merge(struct trace_paths *paths, size_t first, size_t i);

/* Makes `*to` a copy, to be cleared. False if out of memory; then it is empty. */
bool paths_copy(struct trace_paths *to, const struct trace_paths *from);

void paths_clear(struct trace_paths *paths);

/* Three texts as one, for the caller to free. NULL if out of memory. */
char *path_joined(const char *a, const char *between, const char *b);

#endif
