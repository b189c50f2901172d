/*
** Rows that are inserted into a table of facts.
*/
#ifndef TRACEDIFF_FACT_ROWS_H
#define TRACEDIFF_FACT_ROWS_H

#include "base/names.h"
#include "sqlite/api.h"

struct fact_rows {
    sqlite3_stmt *insert;
    int column; /* the next one */
    int code;   /* the first error, a SQLite result code */
};

/* Begins rows of a table with so many columns; they end with fact_rows_end(), which returns the
** code, also if this failed. */
void fact_rows_begin(struct fact_rows *rows, sqlite3 *db, const char *table, int columns);
int fact_rows_end(struct fact_rows *rows);

/* Values of a row, one after the other; not given ones are NULL. Texts stay until the row is added.
** NULL: no text, NUMBER_NONE and no number. */
void fact_text(struct fact_rows *rows, const char *text, size_t length);
void fact_string(struct fact_rows *rows, const char *text);
void fact_name(struct fact_rows *rows, const struct names *names, uint32_t id);
void fact_integer(struct fact_rows *rows, int64_t value);
void fact_real(struct fact_rows *rows, double value);
void fact_row(struct fact_rows *rows);

#endif
