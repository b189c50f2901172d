/*
** The rows of one call of a table function, computed once and then read by any
** number of cursors.
*/
#ifndef TRACEDIFF_ROWS_H
#define TRACEDIFF_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../reader/failure.h"
#include "../trace/columns.h"
#include "plan.h"

struct rows;

/* Going through rows: what a cursor keeps for them. A scan of rows begins with it. */
struct row_scan {
    struct rows *rows;
};

/* Where a cursor is; what it means beyond `row` is the rows' own business. */
struct position {
    int64_t row; /* its number, the same in every scan of these rows */
    size_t part;
    int64_t part_row;
};

/* Those that can fail return a code of SQLite, and say why in the failure. */
struct rows_methods {
    /* Begins a scan of the rows that a wish names, at the least, in the order it
    ** wants. `*scan` is NULL, or one of these rows that is over. NULL: all rows are
    ** gone through by their numbers. */
    int (*begin)(struct rows *rows, const struct wish *wish, struct row_scan **scan,
                 struct failure *failure);
    /* Moves on, first to the first row; `*end`: there is none. */
    int (*next)(struct row_scan *scan, struct position *position, bool *end,
                struct failure *failure);
    void (*end)(struct row_scan *scan); /* frees it */
    int (*column)(struct rows *rows, struct row_scan *scan, const struct position *position,
                  int column, sqlite3_context *context, struct failure *failure);
    void (*destroy)(struct rows *rows);
};

struct rows {
    const struct rows_methods *methods;
    int64_t count;
    size_t memory; /* bytes that are held for these rows alone */
};

/*
** Rows as a table of values. They are added value by value, row after row. Running
** out of memory is remembered, and result_finish() says it.
*/
struct result;

struct result *result_new(int columns);

void result_null(struct result *result);
void result_integer(struct result *result, int64_t value);
/* NULL for NUMBER_NONE. */
void result_number(struct result *result, int64_t value);
void result_real(struct result *result, double value);
/* Copied; NULL makes a NULL. */
void result_text(struct result *result, const char *text, size_t length);
void result_string(struct result *result, const char *text);
/* Copied, with U+FFFD for what is not UTF-8. */
void result_repaired(struct result *result, const char *text, size_t length);
/* The name of an id; NULL for NAME_NONE. */
void result_name(struct result *result, const struct names *names, uint32_t id);
/* `repair`: whether its text may not be UTF-8. */
void result_value(struct result *result, sqlite3_value *value, bool repair);

/* Remembers that there was no memory for a value. */
void result_lost(struct result *result);

/* Hands over the rows, or frees them if `code` is an error. Returns it, or SQLITE_NOMEM;
** `result` may be NULL. */
int result_finish(struct result *result, int code, struct rows **rows);

#endif
