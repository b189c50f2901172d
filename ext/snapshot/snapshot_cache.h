/*
** Snapshots that were read, kept for later queries like files of traces (trace/cache.h): by path
** and identity, and the least recently used are dropped first.
*/
#ifndef TRACEDIFF_SNAPSHOT_CACHE_H
#define TRACEDIFF_SNAPSHOT_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "base/stopper.h"

struct snapshot;

struct snapshot_cache {
    struct snapshot_entry *entries;
    size_t count, capacity;
    uint64_t clock;
};

/* A snapshot, with a reference for the caller; NULL on failure. */
struct snapshot *snapshot_cache_get(struct snapshot_cache *cache, const char *path,
                                    const struct stopper *stopper, struct failure *failure);

/* Drops unused snapshots until the rest hold at most so many bytes, and those of changed files. */
void snapshot_cache_trim(struct snapshot_cache *cache, size_t most);

void snapshot_cache_clear(struct snapshot_cache *cache);

#endif
