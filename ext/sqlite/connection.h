/*
** The state of the extension for one connection: the files that were read, and a few counters. It
** lives as long as any module or function that was registered with it.
*/
#ifndef TRACEDIFF_CONNECTION_H
#define TRACEDIFF_CONNECTION_H

#include "api.h"
#include "file/kernel_type.h"
#include "paths/directory.h"
#include "snapshot/snapshot_cache.h"
#include "trace/cache.h"

enum {
    DEEPEST_NESTING = 8, /* of functions written in SQL (S12) */
    LISTED = 2 /* arguments whose files are known while a function is computing: both sides */
};

struct table_function;
struct function;

/* What a connection is given. */
struct function_list {
    const struct table_function *(*table_function_at)(int i); /* NULL after the last */
    bool (*function_at)(int i, struct function *function);    /* false after the last */
};

struct connection {
    sqlite3 *db;
    const struct function_list *functions;
    int references; /* modules (S22), functions, tables, the running entry point */
    struct cache cache;
    struct snapshot_cache snapshots;
    struct kernel_types kernel_types;
    int cursors;                 /* open cursors */
    int nesting;                 /* functions written in SQL that are running */
    const struct call *speaking; /* the outermost of them, whose name begins errors */
    int working;                 /* functions that are computing something */
    struct listed_paths {        /* what the outermost of them has found, by the argument's text */
        char *text;              /* NULL: none; owned */
        struct trace_paths paths;
    } listed[LISTED];
    int next_listed;
    unsigned short precision;    /* before the first of these */
    sqlite3_stmt *poll;          /* statement that detects interrupts; NULL unless working */
    int64_t polled;              /* ns: when it last ran */
};

/* The caller holds the one reference. NULL if out of memory. */
struct connection *connection_new(sqlite3 *db, const struct function_list *functions);

void connection_release(struct connection *connection);

/* Enclose all work that may take long. In between, the stopper notices interrupts (S19). */
void connection_begin_work(struct connection *connection);
void connection_end_work(struct connection *connection);

/* The files of a trace are listed once for all that a function asks of it: gets those of a text, if
** they are known, and keeps them. */
bool connection_listed(const struct connection *connection, const char *text,
                       struct trace_paths *paths);
void connection_list(struct connection *connection, const char *text,
                     const struct trace_paths *paths);

/* Whether to stop, for callers whose work is usually too short for connection_begin_work(). */
bool connection_interrupted(struct connection *connection, struct failure *failure);

/* Drops a cursor. Without any, no text of a file is in use, and the cache is trimmed. */
void connection_cursor_closed(struct connection *connection);

#endif
