/*
** The values of a pickle, in a few arrays. Containers are nodes and refer to each other by node id,
** so values shared within a pickle are kept once.
**
** 1. A dict has a shape, which holds its keys. All dicts with the same keys in the same order share
**    one shape. The cells of a dict are the values in this order.
** 2. A list of dicts only has refs, 4 bytes each. Any other list has cells, 8 bytes each.
** 3. A container that grows gets further nodes, linked by `next`. A dict is merged into one node
**    when it is placed, so that lookups are fast; values of unknown keys are dropped then.
** 4. The content of bytes objects and integers beyond 64 bits is dropped, because nothing needs it.
*/
#ifndef TRACEDIFF_VALUES_H
#define TRACEDIFF_VALUES_H

#include "base/names.h"

/* The kind is in the upper 4 bits. */
typedef uint64_t pickled;

enum pickled_kind {
    PICKLED_ABSENT, /* no value; only 0 has this kind */
    PICKLED_NONE,
    PICKLED_BOOL,
    PICKLED_INTEGER, /* of 60 bits */
    PICKLED_LONG,    /* of 64 bits: index into `longs` */
    PICKLED_REAL,    /* bits of a double: index into `longs` */
    PICKLED_OTHER,   /* rule 4 */
    PICKLED_TEXT,    /* text id */
    PICKLED_TUPLE,   /* node id, like the kinds below */
    PICKLED_LIST,
    PICKLED_SET,
    PICKLED_DICT
};

enum {
    PICKLED_BITS = 60,
    MOST_KNOWN_KEYS = 40,
    MOST_PAIRS = UINT16_MAX /* limit for one addition to a dict */
};
#define NODE_NONE UINT32_MAX
#define MOST_ITEMS (((size_t)1 << 30) - 1) /* limit for one addition to a list */

struct value_node {
    uint64_t first;      /* index of its first cell or ref */
    uint32_t count : 30; /* of items or values */
    uint32_t has_refs : 1;
    uint32_t placed : 1; /* it is part of another container */
    uint32_t shape;      /* for a dict with values */
    uint32_t next, last; /* rule 3; NODE_NONE: no further node */
};

struct dict_shape {
    size_t first; /* index of its first key */
    uint64_t hash;
    uint32_t count;
    uint16_t places[MOST_KNOWN_KEYS]; /* by known key: index of its value, from 1; 0: missing */
};

struct values {
    struct names texts; /* the first texts are the known keys */
    size_t known;       /* number of known keys */
    struct value_node *nodes;
    size_t node_count, node_capacity;
    pickled *cells;
    size_t cell_count, cell_capacity;
    uint32_t *refs;
    size_t ref_count, ref_capacity;
    int64_t *longs;
    size_t long_count, long_capacity;
    struct dict_shape *shapes;
    size_t shape_count, shape_capacity;
    pickled *keys;
    size_t key_count, key_capacity;
    struct table shape_table;
    size_t text_bytes; /* total size of the texts */
};

static inline pickled pickled_of(enum pickled_kind kind, uint64_t payload)
{
    return (pickled)kind << PICKLED_BITS | payload;
}

static inline enum pickled_kind pickled_kind(pickled value)
{
    return (enum pickled_kind)(value >> PICKLED_BITS);
}

static inline uint32_t pickled_id(pickled value)
{
    return (uint32_t)value;
}

/* Sets at most MOST_KNOWN_KEYS keys; values_field() takes their indices. False if out of memory. */
bool values_begin(struct values *values, const char *const *keys, size_t count);
void values_clear(struct values *values);

/* The memory that the values use, in bytes. */
size_t values_memory(const struct values *values);

/* These return PICKLED_ABSENT if out of memory. */
pickled values_integer(struct values *values, int64_t integer);
pickled values_real(struct values *values, double real);
pickled values_text(struct values *values, const char *text, size_t length);
pickled values_container(struct values *values, enum pickled_kind kind);

/* Adds items to a list, set or tuple; or pairs of keys and values, at most MOST_PAIRS, to a dict.
** Containers among the items become placed. False if out of memory. */
bool values_append(struct values *values, pickled list, const pickled *items, size_t count);
bool values_set(struct values *values, pickled dict, const pickled *pairs, size_t count);

/* Marks a value as part of another container or as the root. False if out of memory. */
bool values_place(struct values *values, pickled value);

/* The value of a known key of a dict; with duplicate keys, the last value. PICKLED_ABSENT if the
** key is missing or `dict` is not a dict. */
pickled values_field(const struct values *values, pickled dict, size_t key);

/* Whether a value is an integer of 64 bits. */
bool values_number(const struct values *values, pickled value, int64_t *number);

/* The number of a value, an integer or a float; NAN if it is neither. */
double values_double(const struct values *values, pickled value);

/* These give the number of pairs of a placed dict (0 for any other value), and one pair. */
size_t values_pairs(const struct values *values, pickled dict);
void values_pair(const struct values *values, pickled dict, size_t i, pickled *key, pickled *value);

/* Whether values from a file use only a plausible amount of memory, given the decompressed bytes
** read and the bytes on disk. */
bool values_fit(size_t memory, int64_t read, int64_t on_disk);

/* The text of a value; NULL for other values. */
const struct name *values_name(const struct values *values, pickled value);

/* Iterates over the items of a list or tuple; any other value has none. */
struct value_walk {
    const struct values *values;
    const struct value_node *node; /* NULL: the end */
    uint32_t i;
};

struct value_walk values_walk(const struct values *values, pickled list);

/* The next item; PICKLED_ABSENT after the last. */
pickled walk_next(struct value_walk *walk);

#endif
