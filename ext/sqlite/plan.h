/*
** What SQLite and a table function agree on when a query is planned: which terms of
** it are arguments, which ones on columns the scan makes use of, and in which order
** rows come.
**
** 1. A term on an argument is used if it is an equality and usable; the first one is
**    enough, for the hidden column lets SQLite check the others. A plan is refused
**    only if an argument has terms and none of them is usable (S1, S2).
** 2. A term on a column is used if the function serves it there: one equality or IN,
**    or one bound from below and one from above. What the scan gives is checked again
**    by SQLite: rows too many do no harm (S4).
** 3. An order by one column is served, ascending or descending as it is written.
*/
#ifndef TRACEDIFF_PLAN_H
#define TRACEDIFF_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "api.h"

struct table_function;

/* What a function does with a column, by bit. */
enum served {
    SERVES_EQUAL = 1, /* = and IN */
    SERVES_RANGE = 2, /* < <= > >= = */
    SERVES_ORDER = 4,
    IN_FILE_ORDER = 8, /* a query that names it gets no other order */
    ON_DEMAND = 16     /* is only there if the query names it */
};

enum { MOST_TERMS = 16 };

struct term {
    int column;
    char op; /* = or < or >, which may be equal too; * for IN */
    sqlite3_value *value;
};

/* What a scan is to give. */
struct wish {
    struct term terms[MOST_TERMS];
    int term_count;
    int order; /* by this column; -1: none */
    bool descending;
};

/* xBestIndex. `defaults` has the arguments that need not be given. */
int plan_make(const struct table_function *function, sqlite3_value *const *defaults,
              sqlite3_index_info *info);

/* What plan_make() has written, for xFilter: the arguments that are given, in
** `given`, by number, NULL if they are not; and the wish. Returns the columns that
** are named among those ON_DEMAND, by bit. */
uint64_t plan_read(const struct table_function *function, int number, const char *text,
                   sqlite3_value **argv, sqlite3_value **given, struct wish *wish);

#endif
