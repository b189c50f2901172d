#include "kept_parts.h"

#include <string.h>

#include "base/memory.h"

static void free_kept(struct derived *derived)
{
    struct kept_parts *kept = (struct kept_parts *)derived;
    for (size_t i = 0; i < kept->count; i++)
        memory_free(kept->steps[i].parts.rows);
    memory_free(kept->steps);
    memory_free(kept->key);
    names_clear(&kept->names);
    memory_free(kept);
}

static void measure(struct kept_parts *kept)
{
    size_t memory = sizeof *kept + kept->key_count * sizeof *kept->key +
                    kept->capacity * sizeof *kept->steps + names_memory(&kept->names);
    for (size_t i = 0; i < kept->count; i++)
        memory += kept->steps[i].parts.capacity * sizeof(struct attributed);
    kept->derived.memory = memory;
}

struct kept_parts *kept_parts_find(struct trace_file *file, const uint64_t *key, size_t key_count)
{
    for (struct derived *at = file->derived; at; at = at->next) {
        struct kept_parts *kept = (struct kept_parts *)at;
        if (at->free == free_kept && kept->key_count == key_count &&
            memcmp(kept->key, key, key_count * sizeof *key) == 0) {
            kept->users++;
            return kept;
        }
    }
    return NULL;
}

struct kept_parts *kept_parts_new(const uint64_t *key, size_t key_count)
{
    struct kept_parts *kept = memory_zeroed(1, sizeof *kept);
    if (!kept)
        return NULL;
    *kept = (struct kept_parts){.derived = {.free = free_kept}, .users = 1, .key_count = key_count};
    kept->key = memory_items(key_count, sizeof *key);
    if (!kept->key) {
        free_kept(&kept->derived);
        return NULL;
    }
    memcpy(kept->key, key, key_count * sizeof *key);
    return kept;
}

bool kept_parts_add(struct kept_parts *kept, const struct window *window, size_t member)
{
    if (!MEMORY_GROW(kept->steps, kept->capacity, kept->count + 1))
        return false;
    kept->steps[kept->count++] = (struct kept_step){.window = *window, .member = member};
    return true;
}

void kept_parts_keep(struct kept_parts *kept, struct trace_file *file, size_t rows)
{
    kept->most = KEPT_LEAST + rows * KEPT_BYTES;
    kept->owner = file;
    kept->derived.next = file->derived;
    file->derived = &kept->derived;
    measure(kept);
}

void kept_parts_made(struct kept_parts *kept, struct kept_step *step)
{
    struct attributed_step *parts = &step->parts;
    size_t size = parts->count * sizeof *parts->rows;
    if (parts->count > 0 && memory_assign(&parts->rows, memory_resize(parts->rows, size)))
        parts->capacity = parts->count;
    step->made = true;
    kept->derived.memory += parts->capacity * sizeof *parts->rows;
}

void kept_parts_drop(struct kept_parts *kept, struct kept_step *step)
{
    if (step->made)
        kept->derived.memory -= step->parts.capacity * sizeof *step->parts.rows;
    memory_free(step->parts.rows);
    step->parts = (struct attributed_step){.rows = NULL};
    step->made = false;
}

bool kept_parts_full(const struct kept_parts *kept)
{
    return kept->derived.memory > kept->most;
}

void kept_parts_close(struct kept_parts *kept)
{
    if (!kept || --kept->users > 0)
        return;
    measure(kept);
    if (kept->owner && !kept_parts_full(kept))
        return;
    if (kept->owner) {
        struct derived **at = &kept->owner->derived;
        while (*at != &kept->derived)
            at = &(*at)->next;
        *at = kept->derived.next;
    }
    free_kept(&kept->derived);
}
