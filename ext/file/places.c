#include "places.h"

#include "base/memory.h"
#include "base/hash.h"

static uint64_t hash_of(const struct place *place)
{
    const uint64_t key = hash_key();
    uint64_t ids = (uint64_t)place->track << 32 | place->cat;
    return hash_mixed((uint64_t)place->stream ^ key, hash_mixed(ids ^ key, place->phase ^ ~key));
}

static uint64_t hash_of_place(const void *places, uint32_t number)
{
    return hash_of(&((const struct places *)places)->items[number]);
}

struct place_key {
    const struct places *places;
    const struct place *place;
};

static bool is_place(const void *key, uint32_t number)
{
    const struct place *place = ((const struct place_key *)key)->place;
    const struct place *other = &((const struct place_key *)key)->places->items[number];
    return other->stream == place->stream && other->track == place->track &&
           other->cat == place->cat && other->phase == place->phase;
}

bool places_number(struct places *places, const struct place *place, uint32_t *number)
{
    struct place_key key = {places, place};
    if (!MEMORY_GROW(places->items, places->capacity, places->count + 1) ||
        !table_reserve(&places->table, places->count, hash_of_place, places))
        return false;
    uint32_t *slot = table_slot(&places->table, hash_of(place), is_place, &key);
    if (!*slot) {
        places->items[places->count++] = *place;
        *slot = (uint32_t)places->count;
    }
    *number = *slot - 1;
    return true;
}

size_t places_memory(const struct places *places)
{
    return places->capacity * sizeof *places->items + places->table.count * sizeof(uint32_t);
}

void places_clear(struct places *places)
{
    table_clear(&places->table);
    memory_free(places->items);
    *places = (struct places){.items = NULL};
}
