/*
** The rows of one table of a database, in the order of their rowids.
*/
#ifndef TRACEDIFF_TABLE_SCAN_H
#define TRACEDIFF_TABLE_SCAN_H

#include "readonly.h"

enum { SCAN_COLUMNS = 24 /* at most */ };

enum scanned {
    SCANNED_ROW,
    SCANNED_LONG, /* a row longer than 16 MiB, without values */
    SCANNED_END,  /* of the table, or of what can be read: readonly.trouble */
    SCANNED_FAILED
};

struct table_scan {
    struct readonly *readonly; /* borrowed */
    const char *name;          /* of the table; borrowed */
    sqlite3_stmt *statement;
    sqlite3_stmt *next; /* gives the next rowid without reading the row; NULL: not needed yet */
    const char *rowid_name;
    bool filtered; /* rows are left out */
    int columns;
    int64_t rowid;  /* of the last row */
    int64_t lowest; /* that the next row may have */
    bool ended;     /* there can be none: the last row has the highest rowid of all */
};

/* Prepares to read columns of a table, named in `columns` and ended by NULL. One that the table
** lacks is NULL in every row. `only` is a term of SQL that may leave rows out, to save time, or
** NULL. `scan` must be zeroed. False on failure, or with trouble. */
bool scan_open(struct table_scan *scan, struct readonly *readonly, struct readonly_table *table,
               const char *const *columns, const char *only, struct failure *failure);

/* Goes to before the first row with at least this rowid; at first that is INT64_MIN. */
void scan_seek(struct table_scan *scan, int64_t rowid);

enum scanned scan_next(struct table_scan *scan, struct failure *failure);

/* Does nothing to a zeroed struct. */
void scan_close(struct table_scan *scan);

/* A value of the row: an integer, or text that is one; else NUMBER_NONE, which the smallest integer
** is, too (G8). */
int64_t scan_integer(const struct table_scan *scan, int column);

/* Whether a value is NULL. */
bool scan_is_null(const struct table_scan *scan, int column);

/* A value that is text, valid until the next row; NULL and 0 otherwise. Any bytes, with a NUL after
** them. */
const unsigned char *scan_text(const struct table_scan *scan, int column, size_t *length);

#endif
