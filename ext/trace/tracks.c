#include "tracks.h"

#include <string.h>

#include "../reader/memory.h"
#include "hash.h"

static uint64_t hash_of(const struct track *track)
{
    const uint64_t key = hash_key();
    uint64_t kinds = (uint64_t)track->pid.kind << 8 | (uint64_t)track->tid.kind;
    uint64_t hash = hash_mixed((uint64_t)track->pid.value ^ key, kinds ^ ~key);
    return hash_mixed((uint64_t)track->tid.value ^ hash, key);
}

static bool same(struct identifier a, struct identifier b)
{
    return a.kind == b.kind && a.value == b.value;
}

/* The slot that holds a track, or the empty one where it belongs. */
static size_t slot_of(const struct tracks *tracks, const struct track *track)
{
    size_t mask = tracks->slot_count - 1, slot = hash_of(track) & mask;
    for (; tracks->slots[slot]; slot = (slot + 1) & mask) {
        const struct track *other = &tracks->items[tracks->slots[slot] - 1];
        if (same(other->pid, track->pid) && same(other->tid, track->tid))
            break;
    }
    return slot;
}

static bool make_room(struct tracks *tracks)
{
    if (!MEMORY_GROW(tracks->items, tracks->capacity, tracks->count + 1))
        return false;
    if (2 * (tracks->count + 1) <= tracks->slot_count)
        return true;
    size_t slot_count = tracks->slot_count ? 2 * tracks->slot_count : 64;
    uint32_t *slots = memory_zeroed(slot_count, sizeof *slots);
    if (!slots)
        return false;
    memory_free(tracks->slots);
    tracks->slots = slots;
    tracks->slot_count = slot_count;
    for (size_t i = 0; i < tracks->count; i++)
        slots[slot_of(tracks, &tracks->items[i])] = (uint32_t)i + 1;
    return true;
}

bool tracks_number(struct tracks *tracks, const struct track *track, uint32_t *number)
{
    if (!make_room(tracks))
        return false;
    size_t slot = slot_of(tracks, track);
    if (!tracks->slots[slot]) {
        tracks->items[tracks->count++] = *track;
        tracks->slots[slot] = (uint32_t)tracks->count;
    }
    *number = tracks->slots[slot] - 1;
    return true;
}

struct track *tracks_process(const struct tracks *tracks, struct identifier pid)
{
    struct track process = {.pid = pid, .tid = {IDENTIFIER_PROCESS, 0}};
    uint32_t found = tracks->slot_count ? tracks->slots[slot_of(tracks, &process)] : 0;
    return found ? &tracks->items[found - 1] : NULL;
}

void tracks_close(struct tracks *tracks)
{
    memory_free(tracks->slots);
    tracks->slots = NULL;
    tracks->slot_count = 0;
}

void tracks_clear(struct tracks *tracks)
{
    tracks_close(tracks);
    memory_free(tracks->items);
    memset(tracks, 0, sizeof *tracks);
}
