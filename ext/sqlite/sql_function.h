/*
** Table functions written in SQL, and SQL that runs for other functions.
*/
#ifndef TRACEDIFF_SQL_FUNCTION_H
#define TRACEDIFF_SQL_FUNCTION_H

#include "table_function.h"

/* The `produce` of functions written in SQL. */
int sql_function_produce(struct call *call, struct rows **rows);

/* Runs a SELECT, whose parameters are the call's arguments by name, and calls `take` for each
** row. `take` returns a SQLite result code. Returns SQLITE_OK, or an error code with
** call->failure filled. */
int sql_run(struct call *call, const char *sql, int (*take)(void *to, sqlite3_stmt *row), void *to);

/* The same for one row of a SELECT. Its statement stays open until the caller finalizes it, so the
** rows of its table functions are kept (table_function.h, rule 4). NULL on failure. */
int sql_hold(struct call *call, const char *sql, sqlite3_stmt **statement);

/* Binds the call's arguments to the parameters of a statement by name (S18), also of another
** database. Returns a SQLite result code. */
int sql_bind(struct call *call, sqlite3_stmt *statement);

/* Enclose SQL that runs for a function: errors begin with its name, nesting is limited, and the
** files of its arguments `control` and `test` are read side by side. */
int sql_enter(struct call *call);
void sql_leave(struct call *call);

#endif
