#include "snapshot_cache.h"

#include <string.h>

#include "base/memory.h"
#include "snapshot_load.h"

/* The limit during a query, high enough to read two large snapshots for a comparison only once. */
static const size_t most_in_query = (size_t)3 << 30;

struct snapshot_entry {
    struct snapshot *snapshot; /* one reference */
    uint64_t used;             /* value of the clock at the last use */
    bool stale;
};

static void remove_entry(struct snapshot_cache *cache, size_t i)
{
    snapshot_release(cache->entries[i].snapshot);
    cache->entries[i] = cache->entries[--cache->count];
}

/* Finds the snapshot of an unchanged file. Snapshots of older versions become stale. */
static struct snapshot *look_up(struct snapshot_cache *cache, const char *path,
                                const struct identity *identity)
{
    struct snapshot *found = NULL;
    for (size_t i = 0; i < cache->count; i++) {
        struct snapshot_entry *entry = &cache->entries[i];
        if (strcmp(entry->snapshot->path, path) != 0)
            continue;
        entry->stale = !source_same(&entry->snapshot->identity, identity);
        if (!entry->stale) {
            entry->used = ++cache->clock;
            found = entry->snapshot;
        }
    }
    return found;
}

struct snapshot *snapshot_cache_get(struct snapshot_cache *cache, const char *path,
                                    const struct stopper *stopper, struct failure *failure)
{
    struct identity identity;
    if (!source_identify(path, &identity, failure))
        return NULL;
    struct snapshot *snapshot = look_up(cache, path, &identity);
    if (snapshot) {
        snapshot->references++;
        return snapshot;
    }
    snapshot_cache_trim(cache, most_in_query);
    if (!MEMORY_GROW(cache->entries, cache->capacity, cache->count + 1)) {
        failure_memory(failure);
        return NULL;
    }
    snapshot = snapshot_load(path, stopper, failure);
    if (snapshot) {
        snapshot->references++;
        cache->entries[cache->count++] = (struct snapshot_entry){snapshot, ++cache->clock, false};
    }
    return snapshot;
}

void snapshot_cache_trim(struct snapshot_cache *cache, size_t most)
{
    size_t bytes = 0, i = 0;
    while (i < cache->count) {
        const struct snapshot_entry *entry = &cache->entries[i];
        if (entry->stale && entry->snapshot->references == 1) {
            remove_entry(cache, i);
            continue;
        }
        bytes += snapshot_memory(entry->snapshot);
        i++;
    }
    while (bytes > most) {
        size_t oldest = cache->count;
        for (i = 0; i < cache->count; i++)
            if (cache->entries[i].snapshot->references == 1 &&
                (oldest == cache->count || cache->entries[i].used < cache->entries[oldest].used))
                oldest = i;
        if (oldest == cache->count)
            return;
        bytes -= snapshot_memory(cache->entries[oldest].snapshot);
        remove_entry(cache, oldest);
    }
}

void snapshot_cache_clear(struct snapshot_cache *cache)
{
    while (cache->count > 0)
        remove_entry(cache, cache->count - 1);
    memory_free(cache->entries);
    memset(cache, 0, sizeof *cache);
}
