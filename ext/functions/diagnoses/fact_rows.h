/*
** Inserts rows into a table of facts.
*/
#ifndef TRACEDIFF_FACT_ROWS_H
#define TRACEDIFF_FACT_ROWS_H

#include "base/names.h"
#include "sqlite/api.h"

struct fact_rows {
    sqlite3_stmt *insert;
    int column; /* index of the next column */
    int code;   /* the first error, a SQLite result code */
};

/* Begins rows of a table with `columns` columns. They end with fact_rows_end(), which returns the
** result code, even if this function failed. */
void fact_rows_begin(struct fact_rows *rows, sqlite3 *db, const char *table, int columns);
int fact_rows_end(struct fact_rows *rows);

/* Append a value to the row; missing values are NULL. Texts must stay valid until the row is added.
** NULL pointers, NUMBER_NONE and NAN become NULL. */
void fact_text(struct fact_rows *rows, const char *text, size_t length);
void fact_string(struct fact_rows *rows, const char *text);
void fact_name(struct fact_rows *rows, const struct names *names, uint32_t id);
void fact_integer(struct fact_rows *rows, int64_t value);
void fact_real(struct fact_rows *rows, double value);
void fact_row(struct fact_rows *rows);

#endif
