#include "interned.h"

#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

enum { MOST_TEXT = 256 << 20 /* bytes */, MOST_ITEMS = 1 << 24 };

static uint64_t hash_of(const struct interned_key *key)
{
    uint64_t rest = (uint64_t)key->sequence << 32 | key->part;
    return hash_with(hash_with(hash_key() ^ (uint64_t)key->kind, rest), key->iid);
}

static uint64_t hash_of_item(const void *interned, uint32_t i)
{
    return hash_of(&((const struct interned *)interned)->items[i].key);
}

struct wanted_item {
    const struct interned *interned;
    const struct interned_key *key;
};

static bool is_item(const void *wanted, uint32_t i)
{
    const struct wanted_item *of = wanted;
    const struct interned_key *key = of->key, *other = &of->interned->items[i].key;
    return key->iid == other->iid && key->kind == other->kind && key->part == other->part &&
           key->sequence == other->sequence;
}

/* Whether an item is from a cleared state. */
static bool is_stale(const struct interned *interned, const struct interned_item *item)
{
    return item->generation != interned->states[item->key.sequence].generation;
}

bool interned_text(struct interned *interned, const void *text, size_t length, uint32_t *id,
                   struct failure *failure)
{
    size_t before = interned->texts.count;
    *id = names_intern(&interned->texts, length ? text : "", length);
    if (*id == NAME_NONE)
        return failure_memory(failure);
    interned->bytes += interned->texts.count > before ? length : 0;
    return interned->bytes <= MOST_TEXT ||
           failure_set(failure, FAILURE_DAMAGE, "more than 256 MiB of interned texts");
}

/* Drops the items of cleared states. */
static void sweep(struct interned *interned)
{
    size_t kept = 0;
    for (size_t i = 0; i < interned->count; i++) {
        const struct interned_item *item = &interned->items[i];
        if (!is_stale(interned, item))
            interned->items[kept++] = *item;
    }
    interned->count = kept;
    interned->stale = 0;
    table_clear(&interned->table);
}

/* Makes room for the state of a sequence. */
static bool reserve_state(struct interned *interned, uint32_t sequence)
{
    size_t before = interned->state_count;
    if (!MEMORY_GROW(interned->states, interned->state_count, (size_t)sequence + 1))
        return false;
    memset(interned->states + before, 0,
           (interned->state_count - before) * sizeof *interned->states);
    return true;
}

bool interned_put(struct interned *interned, const struct interned_key *key, uint32_t text,
                  int32_t value, struct failure *failure)
{
    enum { FEW = 64 };
    struct wanted_item wanted = {interned, key};
    if (interned->stale > FEW && interned->stale > interned->count / 2)
        sweep(interned);
    if (!reserve_state(interned, key->sequence) ||
        !MEMORY_GROW(interned->items, interned->capacity, interned->count + 1) ||
        !table_reserve(&interned->table, interned->count, hash_of_item, interned))
        return failure_memory(failure);
    struct interned_state *state = &interned->states[key->sequence];
    uint32_t *slot = table_slot(&interned->table, hash_of(key), is_item, &wanted);
    state->version++;
    if (!*slot) {
        if (interned->count == MOST_ITEMS)
            return failure_set(failure, FAILURE_DAMAGE, "more than 16,777,216 interned texts");
        interned->count++;
        *slot = (uint32_t)interned->count;
        state->live++;
    } else if (is_stale(interned, &interned->items[*slot - 1])) {
        interned->stale--;
        state->live++;
    }
    interned->items[*slot - 1] = (struct interned_item){*key, state->generation, text, value};
    return true;
}

const struct interned_item *interned_find(const struct interned *interned,
                                          const struct interned_key *key)
{
    struct wanted_item wanted = {interned, key};
    uint32_t i = table_find(&interned->table, hash_of(key), is_item, &wanted);
    return i == UINT32_MAX || is_stale(interned, &interned->items[i]) ? NULL : &interned->items[i];
}

bool interned_clear_state(struct interned *interned, uint32_t sequence, struct failure *failure)
{
    if (!reserve_state(interned, sequence))
        return failure_memory(failure);
    struct interned_state *state = &interned->states[sequence];
    interned->stale += state->live;
    state->live = 0;
    state->version++;
    state->generation++;
    return true;
}

void interned_free(struct interned *interned)
{
    names_clear(&interned->texts);
    table_clear(&interned->table);
    memory_free(interned->items);
    memory_free(interned->states);
    *interned = (struct interned){.items = NULL};
}
