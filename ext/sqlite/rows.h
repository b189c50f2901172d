/*
** The rows of one call of a table function. They are computed once and read by any number of
** cursors.
*/
#ifndef TRACEDIFF_ROWS_H
#define TRACEDIFF_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/failure.h"
#include "file/columns.h"
#include "plan.h"

struct rows;

/* The state of one cursor's walk through rows. The scans of each kind of rows begin with it. */
struct row_scan {
    struct rows *rows;
};

/* The position of a cursor. Only the rows themselves interpret `part` and `part_row`. */
struct position {
    int64_t row; /* row number, the same in every scan of these rows */
    size_t part;
    int64_t part_row;
};

/* Methods that can fail return a SQLite result code and fill the failure. */
struct rows_methods {
    /* Begins a scan of at least the rows that `wish` asks for, in its order. `*scan` is NULL, or
    ** an earlier scan of these rows to reuse. `begin` may be NULL: then the cursor reads all rows
    ** by number. */
    int (*begin)(struct rows *rows, const struct wish *wish, struct row_scan **scan,
                 struct failure *failure);
    /* Moves to the next row, at first to the first one. Sets `*end` if there is none. */
    int (*next)(struct row_scan *scan, struct position *position, bool *end,
                struct failure *failure);
    void (*end)(struct row_scan *scan); /* frees the scan */
    int (*column)(struct rows *rows, struct row_scan *scan, const struct position *position,
                  int column, sqlite3_context *context, struct failure *failure);
    void (*destroy)(struct rows *rows);
};

struct rows {
    const struct rows_methods *methods;
    int64_t count;
    size_t memory; /* bytes held only for these rows */
};

/*
** Rows stored as a table of values, which are added one by one, row after row. If memory runs
** out, result_finish() reports it.
*/
struct result;

struct result *result_new(int columns);

void result_null(struct result *result);
void result_nulls(struct result *result, int count);
void result_integer(struct result *result, int64_t value);
/* Adds NULL for NUMBER_NONE. */
void result_number(struct result *result, int64_t value);
void result_real(struct result *result, double value); /* NULL for NAN */
/* The text is copied; a null pointer adds NULL. */
void result_text(struct result *result, const char *text, size_t length);
void result_string(struct result *result, const char *text);
/* Like result_text(), with U+FFFD for bytes that are not UTF-8. */
void result_repaired(struct result *result, const char *text, size_t length);
/* A null pointer adds NULL. */
void result_named(struct result *result, const struct name *name);
/* Adds the name of an id; NULL for NAME_NONE. */
void result_name(struct result *result, const struct names *names, uint32_t id);
/* `repair`: its text may be invalid UTF-8. */
void result_value(struct result *result, sqlite3_value *value, bool repair);

/* Marks the result as failed because memory for a value ran out. */
void result_lost(struct result *result);

/* Passes the rows to the caller, or frees them if `code` is an error. Returns `code`, or
** SQLITE_NOMEM if memory ran out. `result` may be NULL, which means out of memory. */
int result_finish(struct result *result, int code, struct rows **rows);

#endif
