#include "names.h"

#include <string.h>

#include "memory.h"
#include "hash.h"
#include "sort.h"

enum { FIRST_BLOCK = 512, LARGEST_BLOCK = 64 * 1024 };

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

/* The last words read may overlap earlier ones, so that no bytes are left over. */
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
    hash = hash_with(hash, key);
    return (uint32_t)(hash ^ hash >> 32);
}

struct text_key {
    const struct names *names;
    const void *text;
    size_t length;
    uint32_t hash;
};

static bool has_text(const void *key, uint32_t id)
{
    const struct text_key *text = key;
    const struct name *name = &text->names->items[id];
    return name->hash == text->hash && name->length == text->length &&
           memcmp(name->text, text->text, text->length) == 0;
}

static uint64_t hash_of_name(const void *names, uint32_t id)
{
    return ((const struct names *)names)->items[id].hash;
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
        } else { /* a long text gets a block of its own, listed after the one in use */
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

/* The id of a text, or NAME_NONE. */
static inline uint32_t find(const struct names *names, const void *text, size_t length,
                            uint32_t hash)
{
    struct text_key key = {names, text, length, hash};
    return table_find(&names->table, hash, has_text, &key);
}

static __attribute__((noinline)) uint32_t add(struct names *names, const void *text, size_t length,
                                              uint32_t hash)
{
    struct text_key key = {names, text, length, hash};
    if (names->count >= NAME_NONE - 1 || length >= UINT32_MAX ||
        !MEMORY_GROW(names->items, names->capacity, names->count + 1) ||
        !table_reserve(&names->table, names->count, hash_of_name, names))
        return NAME_NONE;
    char *kept = keep_text(names, text, length);
    if (!kept)
        return NAME_NONE;
    uint32_t id = (uint32_t)names->count++;
    *table_slot(&names->table, hash, has_text, &key) = id + 1;
    names->has_nul = names->has_nul || memchr(text, 0, length) != NULL;
    names->items[id] =
        (struct name){.text = kept, .length = (uint32_t)length, .hash = hash, .next = id};
    return id;
}

uint32_t names_intern(struct names *names, const void *text, size_t length)
{
    /* Names come in the same order again and again. */
    if (names->count > 0) {
        uint32_t next = names->items[names->last].next;
        const struct name *name = &names->items[next];
        if (name->length == length && memcmp(name->text, text, length) == 0)
            return names->last = next;
    }
    uint32_t hash = hash_of(text, length), id = find(names, text, length, hash);
    if (id == NAME_NONE)
        id = add(names, text, length, hash);
    if (id != NAME_NONE) {
        names->items[names->last].next = id;
        names->last = id;
    }
    return id;
}

uint32_t names_adopt(struct names *names, const struct name *name)
{
    uint32_t id = find(names, name->text, name->length, name->hash);
    return id != NAME_NONE ? id : add(names, name->text, name->length, name->hash);
}

uint32_t names_find(const struct names *names, const void *text, size_t length)
{
    return find(names, text, length, hash_of(text, length));
}

int name_compare(const struct name *a, const struct name *b)
{
    int order = memcmp(a->text, b->text, a->length < b->length ? a->length : b->length);
    return order ? order : (a->length > b->length) - (a->length < b->length);
}

static int name_order(const void *a, const void *b)
{
    return name_compare(*(const struct name *const *)a, *(const struct name *const *)b);
}

uint32_t *names_places(const struct names *names, const struct stopper *stopper,
                       struct failure *failure)
{
    const struct name **sorted = memory_items(names->count, sizeof *sorted);
    uint32_t *places = memory_items(names->count, sizeof *places);
    bool done = sorted && places;
    for (size_t id = 0; done && id < names->count; id++)
        sorted[id] = &names->items[id];
    if (!done)
        failure_memory(failure);
    else
        done = sort_items(sorted, names->count, sizeof *sorted, name_order, stopper, failure);
    for (size_t i = 0; done && i < names->count; i++)
        places[sorted[i] - names->items] = (uint32_t)i + 1;
    memory_free(sorted);
    if (done)
        return places;
    memory_free(places);
    return NULL;
}

bool name_contains(const struct name *name, const char *word)
{
    size_t length = strlen(word), i = 0;
    while (i + length <= name->length &&
           (name->text[i] != *word || memcmp(name->text + i, word, length) != 0))
        i++;
    return i + length <= name->length;
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
    size_t bytes = names->capacity * sizeof *names->items + names->table.count * sizeof(uint32_t);
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
    table_clear(&names->table);
    memset(names, 0, sizeof *names);
}
