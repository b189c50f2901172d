#include "values.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "text/text.h"
#include "base/hash.h"

bool values_begin(struct values *values, const char *const *keys, size_t count)
{
    memset(values, 0, sizeof *values);
    values->known = count;
    for (size_t i = 0; i < count; i++)
        if (names_intern(&values->texts, keys[i], strlen(keys[i])) == NAME_NONE)
            return false;
    return true;
}

void values_clear(struct values *values)
{
    names_clear(&values->texts);
    memory_free(values->nodes);
    memory_free(values->cells);
    memory_free(values->refs);
    memory_free(values->longs);
    memory_free(values->shapes);
    memory_free(values->keys);
    table_clear(&values->shape_table);
    memset(values, 0, sizeof *values);
}

size_t values_memory(const struct values *values)
{
    return values->node_count * sizeof *values->nodes + values->cell_count * sizeof *values->cells +
           values->ref_count * sizeof *values->refs + values->long_count * sizeof *values->longs +
           values->shape_count * sizeof *values->shapes + values->key_count * sizeof *values->keys +
           values->text_bytes + values->texts.count * sizeof *values->texts.items +
           (values->texts.table.count + values->shape_table.count) * sizeof(uint32_t);
}

/* Real files need at most their size in memory; gzip makes them up to 30 times smaller. */
bool values_fit(size_t memory, int64_t read, int64_t on_disk)
{
    enum { FREE_MEMORY = 64 * 1024 * 1024, MEMORY_A_BYTE = 8, MEMORY_A_BYTE_ON_DISK = 48 };
    uint64_t by_read = MEMORY_A_BYTE * (uint64_t)read,
             by_file = MEMORY_A_BYTE_ON_DISK * (uint64_t)on_disk;
    return memory <= FREE_MEMORY + (by_read < by_file ? by_read : by_file);
}

/* Adds a value of 64 bits to `longs`; 0 if out of memory. */
static pickled add_long(struct values *values, enum pickled_kind kind, int64_t bits)
{
    if (!MEMORY_GROW(values->longs, values->long_capacity, values->long_count + 1))
        return 0;
    values->longs[values->long_count] = bits;
    return pickled_of(kind, values->long_count++);
}

pickled values_integer(struct values *values, int64_t integer)
{
    const int64_t most = INT64_C(1) << (PICKLED_BITS - 1);
    const uint64_t payload = (UINT64_C(1) << PICKLED_BITS) - 1;
    if (integer >= -most && integer < most)
        return pickled_of(PICKLED_INTEGER, (uint64_t)integer & payload);
    return add_long(values, PICKLED_LONG, integer);
}

pickled values_real(struct values *values, double real)
{
    int64_t bits;
    memcpy(&bits, &real, sizeof bits);
    return add_long(values, PICKLED_REAL, bits);
}

bool values_number(const struct values *values, pickled value, int64_t *number)
{
    enum { KIND_BITS = 64 - PICKLED_BITS };
    if (pickled_kind(value) == PICKLED_INTEGER)
        *number = (int64_t)(value << KIND_BITS) / (1 << KIND_BITS);
    else if (pickled_kind(value) == PICKLED_LONG)
        *number = values->longs[pickled_id(value)];
    else
        return false;
    return true;
}

double values_double(const struct values *values, pickled value)
{
    int64_t number;
    double real = NAN;
    if (values_number(values, value, &number))
        return (double)number;
    if (pickled_kind(value) == PICKLED_REAL)
        memcpy(&real, &values->longs[pickled_id(value)], sizeof real);
    return real;
}

static bool is_utf8(const char *text, size_t length)
{
    const unsigned char *p = (const unsigned char *)text, *end = p + length;
    bool whole = true;
    while (p < end && whole)
        p += *p < 0x80 ? 1 : text_sequence(p, end, &whole);
    return whole;
}

pickled values_text(struct values *values, const char *text, size_t length)
{
    size_t before = values->texts.count;
    char *repaired = is_utf8(text, length) ? NULL : text_repaired(text, &length);
    uint32_t id = names_intern(&values->texts, repaired ? repaired : text, length);
    memory_free(repaired);
    values->text_bytes += values->texts.count > before ? length : 0;
    return id == NAME_NONE ? 0 : pickled_of(PICKLED_TEXT, id);
}

const struct name *values_name(const struct values *values, pickled value)
{
    return pickled_kind(value) == PICKLED_TEXT ? &values->texts.items[pickled_id(value)] : NULL;
}

static uint32_t add_node(struct values *values)
{
    if (values->node_count >= NODE_NONE ||
        !MEMORY_GROW(values->nodes, values->node_capacity, values->node_count + 1))
        return NODE_NONE;
    values->nodes[values->node_count] = (struct value_node){.next = NODE_NONE, .last = NODE_NONE};
    return (uint32_t)values->node_count++;
}

pickled values_container(struct values *values, enum pickled_kind kind)
{
    uint32_t id = add_node(values);
    return id == NODE_NONE ? 0 : pickled_of(kind, id);
}

/* The node that receives new values of a container; NULL if out of memory. */
static struct value_node *node_to_fill(struct values *values, uint32_t id)
{
    if (values->nodes[id].count == 0)
        return &values->nodes[id];
    uint32_t next = add_node(values);
    if (next == NODE_NONE)
        return NULL;
    struct value_node *node = &values->nodes[id];
    values->nodes[node->last == NODE_NONE ? id : node->last].next = next;
    node->last = next;
    return &values->nodes[next];
}

/* Keys to look up: every second value from `pairs` on. */
struct shape_key {
    const struct values *values;
    const pickled *pairs;
    size_t count;
    uint64_t hash;
};

static bool is_shape(const void *key, uint32_t id)
{
    const struct shape_key *wanted = key;
    const struct dict_shape *shape = &wanted->values->shapes[id];
    if (shape->hash != wanted->hash || shape->count != wanted->count)
        return false;
    const pickled *keys = wanted->values->keys + shape->first;
    size_t i = 0;
    while (i < wanted->count && keys[i] == wanted->pairs[2 * i])
        i++;
    return i == wanted->count;
}

static uint64_t hash_of_shape(const void *values, uint32_t id)
{
    return ((const struct values *)values)->shapes[id].hash;
}

/* The shape for these keys; UINT32_MAX if out of memory. */
static uint32_t find_shape(struct values *values, const pickled *pairs, size_t count)
{
    struct shape_key wanted = {values, pairs, count, hash_key()};
    for (size_t i = 0; i < count; i++)
        wanted.hash = hash_with(wanted.hash, pairs[2 * i]);
    uint32_t found = table_find(&values->shape_table, wanted.hash, is_shape, &wanted);
    if (found != UINT32_MAX)
        return found;
    if (!table_reserve(&values->shape_table, values->shape_count, hash_of_shape, values) ||
        !MEMORY_GROW(values->shapes, values->shape_capacity, values->shape_count + 1) ||
        !MEMORY_GROW(values->keys, values->key_capacity, values->key_count + count))
        return UINT32_MAX;
    struct dict_shape *shape = &values->shapes[values->shape_count];
    *shape = (struct dict_shape){
        .first = values->key_count, .hash = wanted.hash, .count = (uint32_t)count};
    for (size_t i = 0; i < count; i++) {
        pickled key = pairs[2 * i];
        values->keys[values->key_count++] = key;
        if (pickled_kind(key) == PICKLED_TEXT && pickled_id(key) < values->known)
            shape->places[pickled_id(key)] = (uint16_t)(i + 1);
    }
    *table_slot(&values->shape_table, wanted.hash, is_shape, &wanted) =
        (uint32_t)values->shape_count + 1;
    return (uint32_t)values->shape_count++;
}

/* Merges the nodes of a dict into one with the values of known keys, the only ones looked up. */
static bool settle(struct values *values, uint32_t dict)
{
    pickled found[MOST_KNOWN_KEYS] = {0}, pairs[2 * MOST_KNOWN_KEYS];
    size_t count = 0;
    for (uint32_t id = dict; id != NODE_NONE; id = values->nodes[id].next) {
        const struct value_node *node = &values->nodes[id];
        for (size_t i = 0; i < node->count; i++) {
            pickled key = values->keys[values->shapes[node->shape].first + i];
            if (pickled_kind(key) == PICKLED_TEXT && pickled_id(key) < values->known)
                found[pickled_id(key)] = values->cells[node->first + i];
        }
    }
    for (size_t key = 0; key < values->known; key++)
        if (found[key] != 0) {
            pairs[2 * count] = pickled_of(PICKLED_TEXT, key);
            pairs[2 * count++ + 1] = found[key];
        }
    uint32_t shape = find_shape(values, pairs, count);
    if (shape == UINT32_MAX ||
        !MEMORY_GROW(values->cells, values->cell_capacity, values->cell_count + count))
        return false;
    struct value_node *node = &values->nodes[dict];
    node->shape = shape;
    node->count = (uint32_t)count & MOST_ITEMS;
    node->first = values->cell_count;
    node->next = node->last = NODE_NONE;
    for (size_t i = 0; i < count; i++)
        values->cells[values->cell_count++] = pairs[2 * i + 1];
    return true;
}

bool values_place(struct values *values, pickled value)
{
    if (pickled_kind(value) < PICKLED_TUPLE)
        return true;
    struct value_node *node = &values->nodes[pickled_id(value)];
    node->placed = 1;
    return pickled_kind(value) != PICKLED_DICT || node->next == NODE_NONE ||
           settle(values, pickled_id(value));
}

/* Adds the leading dicts among items as refs; returns their number. SIZE_MAX: out of memory. */
static size_t append_refs(struct values *values, const pickled *items, size_t count)
{
    size_t i = 0;
    uint32_t *to = values->refs + values->ref_count;
    for (; i < count && pickled_kind(items[i]) == PICKLED_DICT; i++) {
        to[i] = pickled_id(items[i]);
        values->nodes[to[i]].placed = 1;
        if (values->nodes[to[i]].next != NODE_NONE && !settle(values, to[i]))
            return SIZE_MAX;
    }
    return i;
}

bool values_append(struct values *values, pickled list, const pickled *items, size_t count)
{
    struct value_node *node = count > 0 ? node_to_fill(values, pickled_id(list)) : NULL;
    if (count == 0)
        return true;
    if (!node || !MEMORY_GROW(values->refs, values->ref_capacity, values->ref_count + count))
        return false;
    node->count = (uint32_t)count & MOST_ITEMS;
    size_t dicts = append_refs(values, items, count);
    if (dicts == SIZE_MAX)
        return false;
    if (dicts == count) {
        node->has_refs = 1;
        node->first = values->ref_count;
        values->ref_count += count;
        return true;
    }
    if (!MEMORY_GROW(values->cells, values->cell_capacity, values->cell_count + count))
        return false;
    node->first = values->cell_count;
    memcpy(values->cells + values->cell_count, items, count * sizeof *items);
    values->cell_count += count;
    bool done = true;
    for (size_t i = 0; done && i < count; i++)
        done = values_place(values, items[i]);
    return done;
}

bool values_set(struct values *values, pickled dict, const pickled *pairs, size_t count)
{
    for (size_t i = 0; i < 2 * count; i++)
        if (!values_place(values, pairs[i]))
            return false;
    struct value_node *node = count > 0 ? node_to_fill(values, pickled_id(dict)) : NULL;
    if (count == 0)
        return true;
    uint32_t shape = node ? find_shape(values, pairs, count) : UINT32_MAX;
    if (shape == UINT32_MAX ||
        !MEMORY_GROW(values->cells, values->cell_capacity, values->cell_count + count))
        return false;
    node->shape = shape;
    node->count = (uint32_t)count & MOST_ITEMS;
    node->first = values->cell_count;
    for (size_t i = 0; i < count; i++)
        values->cells[values->cell_count++] = pairs[2 * i + 1];
    return true;
}

size_t values_pairs(const struct values *values, pickled dict)
{
    return pickled_kind(dict) == PICKLED_DICT ? values->nodes[pickled_id(dict)].count : 0;
}

void values_pair(const struct values *values, pickled dict, size_t i, pickled *key, pickled *value)
{
    const struct value_node *node = &values->nodes[pickled_id(dict)];
    *key = values->keys[values->shapes[node->shape].first + i];
    *value = values->cells[node->first + i];
}

pickled values_field(const struct values *values, pickled dict, size_t key)
{
    pickled found = 0;
    uint32_t id = pickled_kind(dict) == PICKLED_DICT ? pickled_id(dict) : NODE_NONE;
    for (; id != NODE_NONE; id = values->nodes[id].next) {
        const struct value_node *node = &values->nodes[id];
        size_t at = node->count > 0 ? values->shapes[node->shape].places[key] : 0;
        if (at > 0)
            found = values->cells[node->first + at - 1];
    }
    return found;
}

struct value_walk values_walk(const struct values *values, pickled list)
{
    bool is_list = pickled_kind(list) == PICKLED_LIST || pickled_kind(list) == PICKLED_TUPLE;
    return (struct value_walk){values, is_list ? &values->nodes[pickled_id(list)] : NULL, 0};
}

pickled walk_next(struct value_walk *walk)
{
    const struct values *values = walk->values;
    while (walk->node && walk->i == walk->node->count) {
        uint32_t next = walk->node->next;
        walk->node = next == NODE_NONE ? NULL : &values->nodes[next];
        walk->i = 0;
    }
    if (!walk->node)
        return 0;
    size_t at = (size_t)walk->node->first + walk->i++;
    return walk->node->has_refs ? pickled_of(PICKLED_DICT, values->refs[at]) : values->cells[at];
}
