/*
** One virtual table for every table function: a descriptor says what it is
** called, takes and gives; a producer computes its rows. Everything that SQLite
** does to table functions is dealt with here, once:
**
** 1. An argument may be given by position, by name, by a join, in any order of
**    planning; several terms on one argument, and terms that cannot be used yet,
**    neither lose nor double rows.
** 2. NULL for an optional argument is its default, for a required one it gives no
**    rows; a required one that is absent is an error when the table is read, never
**    when it is planned.
** 3. An argument's hidden column gives back the value of the call.
** 4. Rows are computed once for each tuple of arguments and kept while a cursor is
**    open on the table, so that a join does not compute them again and again; at
**    most KEPT_MEMORY bytes beyond those in use. Terms on columns, and an order, are
**    served as plan.h says.
** 5. A rowid is the number of the tuple of arguments, and the row.
** 6. CREATE VIRTUAL TABLE temp.x USING f(arguments): its arguments are defaults
**    for a call's. Other schemas are refused, for such a table would make a
**    database unreadable without the extension.
** 7. The table is DIRECTONLY if it reads files: no view or trigger of a database
**    somebody else made can use it.
*/
#ifndef TRACEDIFF_TABLE_FUNCTION_H
#define TRACEDIFF_TABLE_FUNCTION_H

#include "../reader/failure.h"
#include "database.h"
#include "rows.h"

enum { MOST_ARGUMENTS = 24, MOST_REQUIRED = 4 /* place of the last required one */ };

struct column {
    const char *name, *type; /* type: as declared; "" for none */
    const char *text;        /* what it means */
};

struct argument {
    const char *name, *type;
    bool required;
    const char *text;
};

struct table_function;

/* A call whose rows are to be computed. */
struct call {
    struct database *database;
    const struct table_function *function;
    sqlite3_value *values[MOST_ARGUMENTS]; /* NULL: the default */
    uint64_t columns;       /* of those ON_DEMAND: which are to be computed, by bit */
    struct failure failure; /* for the producer to say what is wrong */
};

struct table_function {
    const char *name;
    const char *text; /* what it gives, in a line */
    const struct column *columns;
    int column_count;
    const struct argument *arguments;
    int argument_count;
    bool reads_files;
    const unsigned char *serves; /* enum served, by column; NULL: nothing */
    int typical_rows;            /* of a call, for the planner; 0: 1000 */
    /* Computes the rows: SQLITE_OK, or an error code with call->failure filled. */
    int (*produce)(struct call *call, struct rows **rows);
    const char *sql; /* of functions written in SQL */
};

/* An array with its length, in a descriptor. */
#define COUNT_OF(array) ((int)(sizeof(array) / sizeof *(array)))
#define COLUMNS(array) .columns = (array), .column_count = COUNT_OF(array)
#define ARGUMENTS(array) .arguments = (array), .argument_count = COUNT_OF(array)

/* SQLITE_OK, or SQLITE_ERROR if call->failure says something. */
static inline int call_code(const struct call *call)
{
    return call->failure.code == FAILURE_NONE ? SQLITE_OK : SQLITE_ERROR;
}

/* Whether the code of a statement is not an error; else fills call->failure with `what` and
** SQLite's message. */
bool call_check(struct call *call, int code, const char *what);

/* Whether a column ON_DEMAND is to be computed. */
static inline bool call_wants(const struct call *call, int column)
{
    return call->columns >> column & 1;
}

/* Registers a function twice: under its name, and as `tracediff:NAME`, which
** nobody's table can hide (S11). A name that is taken by a module already is left
** alone (S16). `number`: below MOST_FUNCTIONS, another for each function. SQLITE_TOOBIG
** for a number or a function that there is no room for. */
int table_function_register(struct database *database, const struct table_function *function,
                            int number);

/* Takes back what table_function_register() did with this database. Cannot fail. */
void table_function_unregister(struct database *database, const struct table_function *function,
                               int number);

#endif
