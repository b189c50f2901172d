/*
** One virtual table for all table functions. A descriptor gives a function's name, arguments and
** columns; a producer computes its rows. This file handles SQLite's side of table functions:
**
** 1. An argument may be given by position, by name or by a join, whatever the order of the plan.
**    Several terms on one argument, and terms that are not usable yet, neither lose nor duplicate
**    rows.
** 2. NULL for an optional argument means its default; NULL for a required one gives no rows. A
**    missing required argument is an error when the table is read, not when it is planned.
** 3. An argument's hidden column returns the value of the call.
** 4. Rows are computed once for each tuple of arguments and kept while a cursor is open on the
**    table, so that a join does not compute them repeatedly. Rows that no cursor reads are kept
**    up to UNUSED_MEMORY bytes. plan.h describes terms on columns and orders.
** 5. A rowid consists of the number of the tuple of arguments and the row number.
** 6. CREATE VIRTUAL TABLE temp.x USING f(arguments): its arguments are defaults for calls. Other
**    schemas are refused, because such a table would make a database unreadable without the
**    extension.
** 7. The table is DIRECTONLY if it reads files, so that no view or trigger of a database from
**    someone else can use it.
*/
#ifndef TRACEDIFF_TABLE_FUNCTION_H
#define TRACEDIFF_TABLE_FUNCTION_H

#include "base/failure.h"
#include "argument_kind.h"
#include "connection.h"
#include "rows.h"

enum {
    MOST_ARGUMENTS = 30,
    MOST_REQUIRED = 4, /* index after the last required one, at most */
    MOST_VALUES = 2 * MOST_ARGUMENTS /* the arguments of a call and what is bound beside them */
};

struct table_column {
    const char *name, *type; /* type: as in the declaration; "" for none */
    const char *text;        /* description, for the help */
};

/* The first argument of a role is of side 0, which is control or the only one; the second one is of
** side 1, test. */
struct argument {
    const char *name;
    enum argument_kind takes;
    bool required;
    const char *text; /* description, for the help; nothing else reads it */
};

struct table_function;

/* A call whose rows are to be computed. */
struct call {
    struct connection *connection;
    const struct table_function *function;
    sqlite3_value *values[MOST_VALUES]; /* NULL: the default */
    int by_position;                    /* arguments before the first that is not given */
    uint64_t columns;                   /* the columns ON_DEMAND to compute, by bit */
    struct failure failure;             /* filled by the producer on failure */
};

/* Families of functions, in the words of users. */
#define FAMILY_THE_ANSWER "the answer"
#define FAMILY_TIME_OF_A_STEP "time of a step"
#define FAMILY_OPERATORS_AND_KERNELS "operators and kernels"
#define FAMILY_RANKS_AND_THE_JOB "ranks and the job"
#define FAMILY_IS_IT_REAL "is it real"
#define FAMILY_CRITICAL_PATH "critical path"
#define FAMILY_WHAT_A_FIX_BRINGS "what a fix brings"
#define FAMILY_MEMORY "memory"
#define FAMILY_COMPILER "the compiler"
#define FAMILY_EVENTS_AND_FILES "events and files"
#define FAMILY_ANALYSES_OF_HTA "analyses of HTA"
#define FAMILY_CHARTS "charts"
#define FAMILY_HELPERS "helpers"

struct table_function {
    const char *name;
    const char *text; /* description in one line */
    const char *family, *question; /* FAMILY_..., and what a user asks who needs it, for the help */
    const struct table_column *columns;
    int column_count;
    const struct argument *arguments;
    int argument_count;
    const struct table_column *hidden; /* a last column that `*` leaves out; NULL: none */
    bool reads_nothing; /* no files: any view or trigger may use it */
    const unsigned char *serves; /* enum served, by column; NULL: none is served */
    int typical_rows;            /* rows of a call, for the planner; 0: 1000 */
    /* Computes the rows. Returns SQLITE_OK, or an error code with call->failure filled. */
    int (*produce)(struct call *call, struct rows **rows);
    const char *sql;    /* the SELECT of a function written in SQL; else NULL */
    const char *source; /* its file */
};

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof *(array)))
#define COLUMNS(array) .columns = (array), .column_count = COUNT_OF(array)
#define ARGUMENTS(array) .arguments = (array), .argument_count = COUNT_OF(array)

/* SQLITE_OK, or SQLITE_ERROR if call->failure is filled. */
static inline int call_code(const struct call *call)
{
    return call->failure.code == FAILURE_NONE ? SQLITE_OK : SQLITE_ERROR;
}

/* Whether the result code of a statement is not an error. If it is one, fills call->failure with
** `what` and SQLite's message. */
bool call_check(struct call *call, int code, const char *what);

/* What long loops of a call ask. */
static inline const struct stopper *call_stopper(const struct call *call)
{
    return &call->connection->cache.stopper;
}

/* Whether the call must compute a column ON_DEMAND. */
static inline bool call_wants(const struct call *call, int column)
{
    return call->columns >> column & 1;
}

/* Registers the table functions of a connection with a database; without `files` only those that
** read none. Each is
** registered twice: under its name, and as `tracediff:NAME`, which no user's table can hide (S11).
** A name that is already a module's stays as it is (S16). Returns a SQLite result code; on failure
** none is registered, and `*error` may have a text. */
int table_functions_register(struct connection *connection, sqlite3 *db, bool files, char **error);

#endif
