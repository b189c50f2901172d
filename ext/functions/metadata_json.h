/*
** What SQLite's JSON functions make of the metadata of a file.
*/
#ifndef TRACEDIFF_METADATA_JSON_H
#define TRACEDIFF_METADATA_JSON_H

#include "../sqlite/rows.h"

/* A step of a statement over metadata: SQLITE_ROW, SQLITE_DONE, or another code, which is
** fatal. What SQLite's JSON finds malformed, too deep or too long gives no row. */
int metadata_step(sqlite3_stmt *statement);

/* Adds a value of the row; U+FFFD stands for what is not UTF-8. */
void metadata_value(struct result *result, sqlite3_stmt *statement, int column);

#endif
