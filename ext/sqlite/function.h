/*
** Scalar functions and aggregates, as SQL sees them.
*/
#ifndef TRACEDIFF_FUNCTION_H
#define TRACEDIFF_FUNCTION_H

#include "table_function.h"

enum { MOST_FUNCTION_ARGUMENTS = 12 };

struct function {
    const char *name, *text;
    const char *family, *question; /* as in struct table_function */
    struct argument arguments[MOST_FUNCTION_ARGUMENTS]; /* end at the first without a name */
    void (*call)(sqlite3_context *context, int count, sqlite3_value **values);
    void (*step)(sqlite3_context *context, int count, sqlite3_value **values);
    void (*final)(sqlite3_context *context);
    const void *data; /* NULL: SQLite's user data is the connection; else struct function_data */
};

/* The user data of a function that has data. */
struct function_data {
    struct connection *connection; /* one reference */
    const void *data;
};

/* How many arguments a function has; the first `*required` must be given. */
int function_arguments(const struct function *function, int *required);

/* The extended result code of a sum of an aggregate of ours that is beyond 64 bits. */
enum { ERROR_OVERFLOW = SQLITE_ERROR | 64 << 8 };

/* Reports an error of a scalar or an aggregate; its name begins the text. */
void function_fail(sqlite3_context *context, const char *name, const char *format, ...);

/* Ends work that began with connection_begin_work(). Returns `done`; if it is false, reports the
** failure, which is of memory or an interrupt. */
struct connection;
bool function_end_work(sqlite3_context *context, struct connection *connection, bool done,
                       struct failure *failure);

/* Gives a database all functions of a connection: scalars, aggregates and table functions; without
** `files` only table functions that read none. The database is the connection's own, or one that is
** closed before the call that opened it ends. What is there stays (S16). Returns a SQLite result
** code; `*error` may then have a text. */
int functions_register(struct connection *connection, sqlite3 *db, bool files, char **error);

#endif
