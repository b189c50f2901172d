/*
** What the extension keeps for a connection: the files that have been read, and
** a few counters. It lives as long as a module that was registered with it.
*/
#ifndef TRACEDIFF_DATABASE_H
#define TRACEDIFF_DATABASE_H

#include "../trace/cache.h"
#include "../trace/kernel_type.h"
#include "api.h"

enum {
    DEEPEST_NESTING = 8, /* of functions written in SQL (S12) */
    MOST_C_FUNCTIONS = 24,
    MOST_SQL_FUNCTIONS = 40,
    MOST_FUNCTIONS = MOST_C_FUNCTIONS + MOST_SQL_FUNCTIONS
};

struct database {
    sqlite3 *db;
    bool created[MOST_FUNCTIONS][2]; /* which modules were registered with it, by number */
    int references;                  /* modules registered (S22), and whoever holds it meanwhile */
    struct cache cache;
    struct kernel_types kernel_types;
    int cursors;          /* open ones */
    int nesting;          /* functions written in SQL that are running */
    const char *speaking; /* the outermost of them: its name stands before errors */
    int working;          /* functions that are computing something */
    sqlite3_stmt *poll;   /* a short statement, while they are */
    int64_t polled;       /* ns: when it was run last */
};

/* With one reference; NULL if out of memory. */
struct database *database_new(sqlite3 *db);

void database_release(struct database *database);

/* Around all that may take long: lets the cache notice interrupts (S19). */
void database_begin_work(struct database *database);
void database_end_work(struct database *database);

/* For what is mostly short, and does not begin work: whether it is to stop. */
bool database_interrupted(struct database *database, struct failure *failure);

/* A cursor was opened or closed. With the last one, no text of a file is in use
** any more. */
void database_cursor_opened(struct database *database);
void database_cursor_closed(struct database *database);

#endif
