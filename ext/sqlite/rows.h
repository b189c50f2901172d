/*
** The rows of one call of a table function, computed once and then read by any
** number of cursors.
*/
#ifndef TRACEDIFF_ROWS_H
#define TRACEDIFF_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sqlite3ext.h>

/* Where a cursor is; what it means beyond `row` is the rows' own business. */
struct rows;

struct position {
    int64_t row;
    size_t part;      /* zero at the first row */
    int64_t part_row; /* likewise */
};

struct rows_methods {
    /* Moves on to the row whose number `position` has already, from the one
    ** before it; also called for row 0. NULL: only the number counts. */
    void (*next)(const struct rows *rows, struct position *position);
    void (*column)(const struct rows *rows, const struct position *position, int column,
                   sqlite3_context *context);
    void (*destroy)(struct rows *rows);
};

struct rows {
    const struct rows_methods *methods;
    int64_t count;
    size_t memory; /* bytes that are held for these rows alone */
};

/*
** Rows as a table of values. They are added value by value, row after row; if
** there is no memory that is remembered and said by result_finish().
*/
struct result;

struct result *result_new(int columns);

void result_null(struct result *result);
void result_integer(struct result *result, int64_t value);
void result_real(struct result *result, double value);
/* Copied; NULL makes a NULL. */
void result_text(struct result *result, const char *text, size_t length);
void result_string(struct result *result, const char *text);
void result_value(struct result *result, sqlite3_value *value);

/* The rows, or NULL when there was no memory; `result` may be NULL. */
struct rows *result_finish(struct result *result);

void result_free(struct result *result);

#endif
