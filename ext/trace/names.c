#include "names.h"

#include <string.h>

#include "../reader/memory.h"
#include "hash.h"

enum { FIRST_BLOCK = 512, LARGEST_BLOCK = 64 * 1024, FIRST_SLOTS = 32 };

struct names_block {
    struct names_block *next;
    size_t used, size;
    char bytes[];
};

static uint64_t word_at(const unsigned char *text)
{
    uint64_t word;
    memcpy(&word, text, sizeof word);
    return word;
}

/* The last words may overlap those before them. */
static uint32_t hash_of(const unsigned char *text, size_t length)
{
    const uint64_t key = hash_key();
    uint64_t hash = key ^ length * UINT64_C(0xff51afd7ed558ccd);
    if (length >= 16) {
        const unsigned char *last = text + length - 16;
        for (; text < last; text += 16)
            hash = hash_mixed(word_at(text) ^ key, word_at(text + 8) ^ hash);
        hash = hash_mixed(word_at(last) ^ key, word_at(last + 8) ^ hash);
    } else if (length >= 8) {
        hash = hash_mixed(word_at(text) ^ key, word_at(text + length - 8) ^ hash);
    } else {
        uint64_t word = 0;
        for (; length > 0; length--)
            word = word << 8 | *text++;
        hash = hash_mixed(word ^ key, hash);
    }
    hash = hash_mixed(hash ^ key, UINT64_C(0x9e3779b97f4a7c15));
    return (uint32_t)(hash ^ hash >> 32);
}

/* The slot that holds a text, or the empty one where it belongs. */
static size_t slot_of(const struct names *names, const void *text, size_t length, uint32_t hash)
{
    size_t mask = names->slot_count - 1, slot = hash & mask;
    for (; names->slots[slot]; slot = (slot + 1) & mask) {
        const struct name *name = &names->items[names->slots[slot] - 1];
        if (name->hash == hash && name->length == length && memcmp(name->text, text, length) == 0)
            break;
    }
    return slot;
}

/* Room for another name: at most half of the slots are taken. */
static bool make_room(struct names *names)
{
    if (!MEMORY_GROW(names->items, names->capacity, names->count + 1))
        return false;
    if (2 * (names->count + 1) <= names->slot_count)
        return true;
    size_t slot_count = names->slot_count ? 2 * names->slot_count : FIRST_SLOTS;
    uint32_t *slots = memory_zeroed(slot_count, sizeof *slots);
    if (!slots)
        return false;
    for (size_t id = 0; id < names->count; id++) {
        size_t slot = names->items[id].hash & (slot_count - 1);
        while (slots[slot])
            slot = (slot + 1) & (slot_count - 1);
        slots[slot] = (uint32_t)id + 1;
    }
    memory_free(names->slots);
    names->slots = slots;
    names->slot_count = slot_count;
    return true;
}

static char *keep_text(struct names *names, const void *text, size_t length)
{
    struct names_block *block = names->blocks;
    if (!block || block->size - block->used < length + 1) {
        size_t usual = block ? names->block_size * 2 : FIRST_BLOCK;
        if (usual > LARGEST_BLOCK)
            usual = LARGEST_BLOCK;
        bool own = block && length + 1 > usual / 4;
        size_t size = length + 1 > usual || own ? length + 1 : usual;
        block = memory_allocate(sizeof *block + size);
        if (!block)
            return NULL;
        block->used = 0;
        block->size = size;
        if (!own) {
            names->block_size = usual;
            block->next = names->blocks;
            names->blocks = block;
        } else { /* a long text has a block of its own, behind the one in use */
            block->next = names->blocks->next;
            names->blocks->next = block;
        }
    }
    char *to = block->bytes + block->used;
    memcpy(to, text, length);
    to[length] = 0;
    block->used += length + 1;
    return to;
}

static uint32_t intern(struct names *names, const void *text, size_t length, uint32_t hash)
{
    size_t slot = 0;
    if (names->slot_count) {
        slot = slot_of(names, text, length, hash);
        if (names->slots[slot])
            return names->slots[slot] - 1;
    }
    if (names->count >= NAME_NONE - 1 || length >= UINT32_MAX || !make_room(names))
        return NAME_NONE;
    slot = slot_of(names, text, length, hash);
    char *kept = keep_text(names, text, length);
    if (!kept)
        return NAME_NONE;
    uint32_t id = (uint32_t)names->count++;
    names->items[id] = (struct name){kept, (uint32_t)length, hash};
    names->slots[slot] = id + 1;
    return id;
}

uint32_t names_intern(struct names *names, const void *text, size_t length)
{
    return intern(names, text, length, hash_of(text, length));
}

uint32_t names_adopt(struct names *names, const struct name *name)
{
    return intern(names, name->text, name->length, name->hash);
}

uint32_t names_find(const struct names *names, const void *text, size_t length)
{
    if (names->slot_count == 0)
        return NAME_NONE;
    uint32_t found = names->slots[slot_of(names, text, length, hash_of(text, length))];
    return found ? found - 1 : NAME_NONE;
}

int name_compare(const struct name *a, const struct name *b)
{
    int order = memcmp(a->text, b->text, a->length < b->length ? a->length : b->length);
    return order ? order : (a->length > b->length) - (a->length < b->length);
}

size_t names_longest(const struct names *names)
{
    size_t longest = 0;
    for (size_t i = 0; i < names->count; i++)
        longest = names->items[i].length > longest ? names->items[i].length : longest;
    return longest;
}

size_t names_memory(const struct names *names)
{
    size_t bytes = names->capacity * sizeof *names->items + names->slot_count * sizeof(uint32_t);
    for (const struct names_block *block = names->blocks; block; block = block->next)
        bytes += block->size;
    return bytes;
}

void names_clear(struct names *names)
{
    for (struct names_block *block = names->blocks; block;) {
        struct names_block *next = block->next;
        memory_free(block);
        block = next;
    }
    memory_free(names->items);
    memory_free(names->slots);
    memset(names, 0, sizeof *names);
}
