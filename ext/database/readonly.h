/*
** A database that another program wrote, opened only to be read.
**
** Nothing of it is run: no view, trigger, generated column or virtual table (G3). Nothing is
** written, neither to it nor beside it (G2).
*/
#ifndef TRACEDIFF_READONLY_H
#define TRACEDIFF_READONLY_H

#include <sqlite3ext.h>

#include "source/source.h"
#include "base/stopper.h"

SQLITE_EXTENSION_INIT3

struct readonly_table {
    char *name;     /* owned, like the columns */
    char **columns; /* without those that are generated; NULL: not asked for yet */
    size_t column_count;
    const char *key;   /* the column that is the rowid, INTEGER PRIMARY KEY; NULL: there is none */
    const char *rowid; /* a name of the rowid that no column has; NULL: all three are taken */
};

struct readonly {
    sqlite3 *db;
    const char *path; /* borrowed */
    struct identity identity;
    struct stopper stopper;
    struct failure trouble;        /* damage that was found; reading ends with it */
    struct readonly_table *tables; /* in the order of the schema */
    size_t table_count, table_capacity;
};

/* Opens a database and lists its tables. A schema that cannot be read is trouble, not a failure.
** False on failure (FAILURE_READ, FAILURE_MEMORY, FAILURE_INTERRUPTED); the struct is to be closed
** then, too, and must not move. */
bool readonly_open(struct readonly *readonly, const char *path, const struct stopper *stopper,
                   struct failure *failure);

/* Does nothing to a zeroed struct. */
void readonly_close(struct readonly *readonly);

/* As in struct row_source. */
bool readonly_look(const char *path, bool *is, struct failure *failure);
bool readonly_complete(const char *path, struct failure *failure);

/* Whether the file is still the one that was opened; false sets FAILURE_READ. */
bool readonly_unchanged(const struct readonly *readonly, struct failure *failure);

/* The same of a file with this identity. */
bool readonly_same(const struct readonly *readonly, const struct identity *identity,
                   struct failure *failure);

/* A table, by its name in any case; NULL if there is none. */
struct readonly_table *readonly_table(const struct readonly *readonly, const char *name);

/* The name of a column of a table, with the case of the database; NULL if there is none, or if its
** values are generated. readonly_columns() must have been called. */
const char *readonly_column(const struct readonly_table *table, const char *name);

/* Reads a table's columns, key and name of the rowid, unless they are known. False on failure, or
** with trouble. */
bool readonly_columns(struct readonly *readonly, struct readonly_table *table,
                      struct failure *failure);

/* Handles a result code of SQLite, met in a table (NULL: in the schema): true if it is not an
** error. Memory and interrupts set the failure; damage is kept as trouble. */
bool readonly_check(struct readonly *readonly, int code, const char *table,
                    struct failure *failure);

/* Keeps `'path': what (table)` as trouble. Always returns false. */
bool readonly_damaged(struct readonly *readonly, const char *what, const char *table,
                      struct failure *failure);

#endif
