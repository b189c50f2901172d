/*
** The rows that the calls of a table have computed, by their arguments. Rows that a query with
** other columns ON_DEMAND replaces are freed when the last cursor leaves them.
*/
#ifndef TRACEDIFF_KEPT_H
#define TRACEDIFF_KEPT_H

#include "table_function.h"

/* A rowid is the number of a tuple of arguments, from 1 on, and 40 bits for the row. */
enum { ROW_BITS = 40 };

/* The rows of a tuple, shared by the cursors that are on them. */
struct kept_rows {
    struct rows *rows;
    uint64_t columns; /* of those on demand: which the rows have */
    uint32_t tuple;
    int cursors;                     /* that are on these rows */
    struct kept_rows *newer, *older; /* among the unused, by when they were left */
};

struct kept {
    struct names tuples;         /* keys of the tuples; their ids are in rowids, so they stay */
    struct kept_rows **by_tuple; /* NULL: none */
    size_t capacity;
    struct kept_rows *newest, *oldest; /* rows that no cursor is on */
    size_t unused_memory;              /* bytes of these */
};

/* The number of the arguments of a call, new or known; NAME_NONE if out of memory, or no
** number that fits in a rowid. */
uint32_t kept_tuple(struct kept *kept, const struct call *call);

/* The rows of a tuple; NULL if there are none with all of `columns`. */
struct kept_rows *kept_find(const struct kept *kept, uint32_t tuple, uint64_t columns);

/* The columns of the rows of a tuple. Those that replace them also get these, so that two
** cursors that want different columns do not replace each other's rows in turn. */
uint64_t kept_columns(const struct kept *kept, uint32_t tuple);

/* Keeps rows, which it takes over, unless others with these columns are kept, which a nested use
** has computed. False if out of memory. */
bool kept_add(struct kept *kept, uint32_t tuple, uint64_t columns, struct rows *rows);

/* A cursor goes to rows, or leaves them. */
void kept_enter(struct kept *kept, struct kept_rows *rows);
void kept_leave(struct kept *kept, struct kept_rows *rows);

/* Frees unused rows, the longest unused first, down to UNUSED_MEMORY or all. */
void kept_trim(struct kept *kept, bool all);

/* Frees everything; no cursor is open. */
void kept_clear(struct kept *kept);

#endif
