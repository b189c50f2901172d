/*
** The plan of a query, which SQLite and a table function agree on: which terms are arguments, which
** terms on columns the scan uses, and the order of the rows.
**
** 1. The first term on an argument that is a usable equality gives its value. SQLite checks any
**    further terms against the hidden column. A plan is refused only if an argument has terms and
**    none of them is usable (S1, S2).
** 2. The scan uses a term on a column if the function serves it there: one equality or IN, and one
**    lower and one upper bound. SQLite checks each row again, so extra rows do no harm (S4).
** 3. An order by one column is served, ascending or descending; that of a text only where the
**    database is in UTF-8 (S24).
*/
#ifndef TRACEDIFF_PLAN_H
#define TRACEDIFF_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "api.h"

struct table_function;

/* What a scan can do with a column; flags. */
enum served {
    SERVES_EQUAL = 1, /* = and IN */
    SERVES_RANGE = 2, /* < <= > >= = */
    SERVES_ORDER = 4,
    IN_FILE_ORDER = 8, /* a scan serves no order if the query names it */
    ON_DEMAND = 16     /* computed only if the query names it */
};

enum { MOST_TERMS = 16 };

struct term {
    int column;
    char op; /* '=', '<' (also <=), '>' (also >=) or '*' (IN) */
    sqlite3_value *value;
};

/* The rows that a query asks a scan for. */
struct wish {
    struct term terms[MOST_TERMS];
    int term_count;
    int order; /* index of the column to order by; -1: none */
    bool descending;
};

/* xBestIndex. An argument with a default need not be given. SQLITE_ERROR: `error` says why. */
int plan_make(const struct table_function *function, sqlite3 *db, sqlite3_value *const *defaults,
              sqlite3_index_info *info, char **error);

/* Reads a plan of plan_make(), for xFilter. Fills `given`, by argument (NULL: not given), and
** `wish`. Returns the columns ON_DEMAND that the query names, by bit. */
uint64_t plan_read(const struct table_function *function, int number, const char *text,
                   sqlite3_value **argv, sqlite3_value **given, struct wish *wish);

#endif
