/*
** Keeps snapshots for later queries, like the cache of trace files (trace/cache.h): by path and
** identity. The least recently used are dropped first.
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

/* Gets a snapshot with a reference for the caller; NULL on failure. */
struct snapshot *snapshot_cache_get(struct snapshot_cache *cache, const char *path,
                                    const struct stopper *stopper, struct failure *failure);

/* Drops snapshots of changed files, and unused snapshots until at most `most` bytes remain. */
void snapshot_cache_trim(struct snapshot_cache *cache, size_t most);

void snapshot_cache_clear(struct snapshot_cache *cache);

#endif
