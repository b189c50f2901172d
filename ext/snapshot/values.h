/*
** The values of a pickle, in a few arrays. Containers are nodes, and refer to others by the node's
** id, so what a pickle shares is kept once.
**
** 1. A dict has a shape: its keys, kept once for all dicts that have the same keys in the same
**    order. Its cells are the values, in the order of the keys.
** 2. A list has refs if all its items are dicts, 4 bytes each; else cells, 8 bytes each.
** 3. A container that was added to again has further nodes: its next ones. A dict has one node once
**    it is placed, so that a field is found at once; what has a key that is not known is left out.
** 4. Bytes have no content here, nor has an integer beyond 64 bits: nothing needs them.
*/
#ifndef TRACEDIFF_VALUES_H
#define TRACEDIFF_VALUES_H

#include "base/names.h"

/* The kind is in the upper 4 bits. */
typedef uint64_t pickled;

enum pickled_kind {
    PICKLED_ABSENT, /* no value; only 0 is of this kind */
    PICKLED_NONE,
    PICKLED_BOOL,
    PICKLED_INTEGER, /* of 60 bits */
    PICKLED_LONG,    /* of 64 bits: an index of `longs` */
    PICKLED_REAL,    /* its bits: an index of `longs` */
    PICKLED_OTHER,   /* rule 4 */
    PICKLED_TEXT,    /* id of the text */
    PICKLED_TUPLE,   /* this and the next ones: id of the node */
    PICKLED_LIST,
    PICKLED_SET,
    PICKLED_DICT
};

enum {
    PICKLED_BITS = 60,
    MOST_KNOWN_KEYS = 40,
    MOST_PAIRS = UINT16_MAX /* added to a dict at once */
};
#define NODE_NONE UINT32_MAX
#define MOST_ITEMS (((size_t)1 << 30) - 1) /* added to a list at once */

struct value_node {
    uint64_t first;      /* index of its first cell or ref */
    uint32_t count : 30; /* of its items or values */
    uint32_t has_refs : 1;
    uint32_t placed : 1; /* it is in another container */
    uint32_t shape;      /* of a dict with values */
    uint32_t next, last; /* rule 3; NODE_NONE: there is no other */
};

struct dict_shape {
    size_t first; /* index of its first key */
    uint64_t hash;
    uint32_t count;
    uint16_t places[MOST_KNOWN_KEYS]; /* by known key: the place of its value, from 1; 0: none */
};

struct values {
    struct names texts; /* the first are the known keys */
    size_t known;       /* keys */
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
    size_t text_bytes; /* of all texts */
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

/* At most MOST_KNOWN_KEYS keys, whose indices values_field() takes. False if out of memory. */
bool values_begin(struct values *values, const char *const *keys, size_t count);
void values_clear(struct values *values);

/* Bytes that the values take. */
size_t values_memory(const struct values *values);

/* These return PICKLED_ABSENT if out of memory. */
pickled values_integer(struct values *values, int64_t integer);
pickled values_real(struct values *values, double real);
pickled values_text(struct values *values, const char *text, size_t length);
pickled values_container(struct values *values, enum pickled_kind kind);

/* Adds items to a list, set or tuple; or pairs of keys and values, at most MOST_PAIRS, to a dict.
** False if out of memory. The containers among the items become placed. */
bool values_append(struct values *values, pickled list, const pickled *items, size_t count);
bool values_set(struct values *values, pickled dict, const pickled *pairs, size_t count);

/* Notes that a value is in another container, or is the root. False if out of memory. */
bool values_place(struct values *values, pickled value);

/* The value of a known key of a dict, of several the last; PICKLED_ABSENT if it is not there, or if
** `dict` is not a dict. */
pickled values_field(const struct values *values, pickled dict, size_t key);

/* Whether a value is an integer of 64 bits. */
bool values_number(const struct values *values, pickled value, int64_t *number);

/* The number of a value, an integer or a float; NAN if it is neither. */
double values_double(const struct values *values, pickled value);

/* The pairs of a dict that is placed, and one of them; of another value there are none. */
size_t values_pairs(const struct values *values, pickled dict);
void values_pair(const struct values *values, pickled dict, size_t i, pickled *key, pickled *value);

/* Whether values that were read from a file take no more memory than such a file may: so many of
** its bytes were read, decompressed, and so many are on disk. */
bool values_fit(size_t memory, int64_t read, int64_t on_disk);

/* The text of a value; NULL if it is not a text. */
const struct name *values_name(const struct values *values, pickled value);

/* A walk through the items of a list or tuple; of another value, there are none. */
struct value_walk {
    const struct values *values;
    const struct value_node *node; /* NULL: the end */
    uint32_t i;
};

struct value_walk values_walk(const struct values *values, pickled list);

/* The next item; PICKLED_ABSENT after the last. */
pickled walk_next(struct value_walk *walk);

#endif
