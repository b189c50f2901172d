/*
** Strings, each kept once, under dense ids: 0, 1, 2 ... in order of arrival.
** So a group by name is an array index. Texts stay where they are until the
** table is cleared.
*/
#ifndef TRACEDIFF_NAMES_H
#define TRACEDIFF_NAMES_H

#include "table.h"

#define NAME_NONE UINT32_MAX

struct name {
    const char *text; /* valid UTF-8, followed by a NUL */
    uint32_t length;  /* bytes */
    uint32_t hash;
};

struct names {
    struct name *items; /* by id */
    size_t count;
    /* private */
    size_t capacity;
    struct table table;
    struct names_block *blocks;
    size_t block_size; /* of the last one that was not made for one text alone */
};

/* The id of a text, which is new or known; NAME_NONE if out of memory. */
uint32_t names_intern(struct names *names, const void *text, size_t length);

/* The id of a name of another table in this one. */
uint32_t names_adopt(struct names *names, const struct name *name);

/* The id of a text, or NAME_NONE if it is not there. Cannot fail. */
uint32_t names_find(const struct names *names, const void *text, size_t length);

/* The order of two names as SQLite's BINARY has it: by bytes. */
int name_compare(const struct name *a, const struct name *b);

/* Bytes of the longest name. */
size_t names_longest(const struct names *names);

/* Bytes of memory it holds. */
size_t names_memory(const struct names *names);

/* Frees everything; a zeroed struct is an empty table. */
void names_clear(struct names *names);

#endif
