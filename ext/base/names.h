/*
** Strings, each kept once, with dense ids 0, 1, 2 ... in order of arrival, so that grouping by
** name is indexing an array. Texts do not move until the table is cleared.
*/
#ifndef TRACEDIFF_NAMES_H
#define TRACEDIFF_NAMES_H

#include "stopper.h"
#include "table.h"

#define NAME_NONE UINT32_MAX

struct name {
    const char *text; /* valid UTF-8, NUL-terminated */
    uint32_t length;  /* bytes */
    uint32_t hash;
    uint32_t next; /* private */
};

struct names {
    struct name *items; /* by id */
    size_t count;
    bool has_nul; /* a text contains a NUL */
    /* private */
    size_t capacity;
    struct table table;
    struct names_block *blocks;
    size_t block_size; /* of the last block that was not made for a single text */
    uint32_t last;     /* the id given last; item `last`.next followed it the time before */
};

/* The id of a text, which is added if it is new; NAME_NONE if out of memory. */
uint32_t names_intern(struct names *names, const void *text, size_t length);

/* The id in this table of a name of another table. */
uint32_t names_adopt(struct names *names, const struct name *name);

/* The id of a text, or NAME_NONE if the table does not have it. Cannot fail. */
uint32_t names_find(const struct names *names, const void *text, size_t length);

/* Compares names by bytes, as SQLite's BINARY collation does in a database in UTF-8. */
int name_compare(const struct name *a, const struct name *b);

/* By id: the place of the name in the order of names, from 1. NULL on failure. */
uint32_t *names_places(const struct names *names, const struct stopper *stopper,
                       struct failure *failure);

/* Whether a word occurs in a name. */
bool name_contains(const struct name *name, const char *word);

/* The length of the longest name, in bytes. */
size_t names_longest(const struct names *names);

/* The memory the table holds, in bytes. */
size_t names_memory(const struct names *names);

/* Frees everything. A zeroed struct is an empty table. */
void names_clear(struct names *names);

#endif
