/*
** From what a user writes for a trace to the paths of its files: a directory, a
** file, a glob pattern, or several of these.
*/
#ifndef TRACEDIFF_DIRECTORY_H
#define TRACEDIFF_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../reader/failure.h"

/* Those of a directory that may be traces, for errors. */
#define TRACE_FILES "*.json, *.json.gz or *.gz file"

struct trace_path {
    char *path;   /* owned */
    bool listed;  /* found in a directory, not named: it need not be a trace (T16) */
    size_t again; /* how many more times the file was given */
};

struct trace_paths {
    struct trace_path *items;
    size_t count, capacity;
};

/* Adds the files of one text:
** 1. `~/` at its beginning is the home directory
** 2. a directory: its *.json, *.json.gz and *.gz files (letters of any case), not
**    recursive, without names that begin with a dot and without directories
** 3. another path that exists: that file
** 4. else, with `*`, `?` or `[` in it: the files that match the pattern
** Failures: FAILURE_REQUEST if nothing is there or the text is a URL, FAILURE_READ,
** FAILURE_MEMORY. */
bool paths_add(struct trace_paths *paths, const char *text, struct failure *failure);

/* The failure of a text whose paths are none: what to write instead, if it is known. Returns
** false. */
bool paths_none(const char *text, struct failure *failure);

/* Puts them in the order of their names, each once; `again` counts the others. */
void paths_sort(struct trace_paths *paths);

/* The place of a path among the first `count`, which are sorted and have it. */
size_t paths_find(const struct trace_paths *paths, size_t count, const char *path);

/* Frees the path at `i`, which is another one of the same file as the one at `first`. Its
** place is left empty. */
void paths_merge(struct trace_paths *paths, size_t first, size_t i);

void paths_clear(struct trace_paths *paths);

/* T7: the number of the last `rank`, `rank-` or `rank_` and digits in the base
** name of a path (any case, not after a letter); -1 if there is none. */
int64_t path_rank(const char *path);

#endif
