#include "tracks.h"

#include <string.h>

#include "base/memory.h"
#include "base/hash.h"

static uint64_t hash_of(const struct track *track)
{
    const uint64_t key = hash_key();
    uint64_t kinds = (uint64_t)track->pid.kind << 8 | (uint64_t)track->tid.kind;
    uint64_t hash = hash_mixed((uint64_t)track->pid.value ^ key, kinds ^ ~key);
    return hash_mixed((uint64_t)track->tid.value ^ hash, key);
}

static uint64_t hash_of_track(const void *tracks, uint32_t id)
{
    return hash_of(&((const struct tracks *)tracks)->items[id]);
}

static bool same(struct identifier a, struct identifier b)
{
    return a.kind == b.kind && a.value == b.value;
}

struct track_key {
    const struct tracks *tracks;
    const struct track *track;
};

static bool is_track(const void *key, uint32_t id)
{
    const struct track *track = ((const struct track_key *)key)->track;
    const struct track *other = &((const struct track_key *)key)->tracks->items[id];
    return same(other->pid, track->pid) && same(other->tid, track->tid);
}

bool tracks_number(struct tracks *tracks, const struct track *track, uint32_t *number)
{
    struct track_key key = {tracks, track};
    if (!MEMORY_GROW(tracks->items, tracks->capacity, tracks->count + 1) ||
        !table_reserve(&tracks->table, tracks->count, hash_of_track, tracks))
        return false;
    uint32_t *slot = table_slot(&tracks->table, hash_of(track), is_track, &key);
    if (!*slot) {
        tracks->items[tracks->count++] = *track;
        *slot = (uint32_t)tracks->count;
    }
    *number = *slot - 1;
    return true;
}

struct track *tracks_process(const struct tracks *tracks, struct identifier pid)
{
    struct track process = {.pid = pid, .tid = {IDENTIFIER_PROCESS, 0}};
    struct track_key key = {tracks, &process};
    uint32_t id = table_find(&tracks->table, hash_of(&process), is_track, &key);
    return id == UINT32_MAX ? NULL : &tracks->items[id];
}

void tracks_clear(struct tracks *tracks)
{
    table_clear(&tracks->table);
    memory_free(tracks->items);
    memset(tracks, 0, sizeof *tracks);
}
