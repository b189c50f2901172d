/*
** The rows that the calls of a table have computed, by arguments. A query that needs other columns
** ON_DEMAND replaces the rows; the old ones are freed when the last cursor leaves them.
*/
#ifndef TRACEDIFF_KEPT_H
#define TRACEDIFF_KEPT_H

#include "table_function.h"

/* A rowid is the number of a tuple of arguments, counted from 1, followed by 40 bits of row
** number. */
enum { ROW_BITS = 40 };

/* The rows of a tuple, shared by the cursors that read them. */
struct kept_rows {
    struct rows *rows;
    uint64_t columns; /* the columns ON_DEMAND that the rows have, by bit */
    uint32_t tuple;
    int cursors;                     /* the cursors that read these rows */
    struct kept_rows *newer, *older; /* list of unused rows, by when they were left */
};

struct kept {
    struct names tuples; /* keys of the tuples; never removed, because rowids contain their ids */
    struct kept_rows **by_tuple; /* NULL: none */
    size_t capacity;
    struct kept_rows *newest, *oldest; /* rows that no cursor reads */
    size_t unused_memory;              /* bytes of the unused rows */
};

/* The number of a call's arguments, new or known; NAME_NONE if out of memory, or out of numbers
** that fit in a rowid. */
uint32_t kept_tuple(struct kept *kept, const struct call *call);

/* The rows of a tuple; NULL if there are none with all of `columns`. */
struct kept_rows *kept_find(const struct kept *kept, uint32_t tuple, uint64_t columns);

/* The columns ON_DEMAND of a tuple's rows. Rows that replace these must have these columns, too:
** otherwise two cursors that need different columns would replace each other's rows in turn. */
uint64_t kept_columns(const struct kept *kept, uint32_t tuple);

/* Keeps rows, and takes ownership of them. If a nested use has meanwhile computed rows with these
** columns, those stay instead. False if out of memory. */
bool kept_add(struct kept *kept, uint32_t tuple, uint64_t columns, struct rows *rows);

/* A cursor begins to read rows, or stops. */
void kept_enter(struct kept *kept, struct kept_rows *rows);
void kept_leave(struct kept *kept, struct kept_rows *rows);

/* Frees unused rows, the longest unused first, until they take at most UNUSED_MEMORY bytes; `all`:
** all of them. */
void kept_trim(struct kept *kept, bool all);

/* Frees everything. No cursor may be open. */
void kept_clear(struct kept *kept);

#endif
