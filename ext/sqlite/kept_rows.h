/*
** The rows that the calls of a table have computed, by the tuples of their arguments.
*/
#ifndef TRACEDIFF_KEPT_ROWS_H
#define TRACEDIFF_KEPT_ROWS_H

#include "base/names.h"
#include "table_function.h"

/* The rows of a tuple, shared by the cursors that read them. A query that needs other columns
** ON_DEMAND replaces the rows; the old ones are freed when the last cursor leaves them. */
struct kept_rows {
    struct rows *rows;
    uint64_t columns; /* the columns ON_DEMAND that the rows have, by bit */
    uint32_t tuple;
    int cursors;                     /* the cursors that read these rows */
    struct kept_rows *newer, *older; /* list of unused rows, by when they were left */
};

/* A zeroed struct keeps nothing. */
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

/* The rows of a call; NULL if there are none with all of its columns. */
struct kept_rows *kept_find(const struct kept *kept, uint32_t tuple, const struct call *call);

/* Keeps rows, and takes ownership of them. If a nested use has meanwhile computed rows with these
** columns, those stay instead. False if out of memory. */
bool kept_add(struct kept *kept, uint32_t tuple, const struct call *call, struct rows *rows);

/* A cursor begins to read rows, and ends. */
void kept_enter(struct kept *kept, struct kept_rows *rows);
void kept_leave(struct kept *kept, struct kept_rows *rows);

/* The rowid of a row: another one for each tuple and number of row. */
int64_t kept_rowid(const struct kept_rows *rows, int64_t row);

/* Frees unused rows, the longest unused first, down to 64 MiB; `all`: all of them. */
void kept_trim(struct kept *kept, bool all);

void kept_clear(struct kept *kept);

#endif
