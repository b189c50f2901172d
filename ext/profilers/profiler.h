/*
** What the databases of one profiler mean. A profiler says which tables have events; the reading of
** them (database_rows.c) counts their rows, which makes the numbers of events (G9), and gives each
** row to it.
*/
#ifndef TRACEDIFF_PROFILER_H
#define TRACEDIFF_PROFILER_H

#include "database/string_table.h"
#include "loading/loading.h"

/* A table with events. */
struct event_table {
    struct readonly_table *table; /* NULL: the database lacks it */
    int kind;                     /* the profiler's own number */
    bool owned;                   /* all its rows are of one part; */
    size_t part;                  /* that is this one */
};

enum { EVENT_TABLES = 512 /* at most */, EVENT_KINDS = 8 };

/* A database that is being read. */
struct database_read {
    struct readonly *readonly; /* borrowed; several parts may share it */
    struct loading *loading;   /* NULL while args are read */
    struct trace_file *file;   /* NULL while args are read */
    struct failure *failure;
    struct event_table tables[EVENT_TABLES]; /* in the order of events */
    size_t table_count;
    int64_t named;     /* bytes of the names that were added */
    void *state;       /* the profiler's */
    const void *known; /* while args are read: its state when the rows were read */
};

struct profiler {
    const char *name;

    /* The columns of each kind of table, ended by NULL: those that rows need, and those of args. */
    const char *const *columns[EVENT_KINDS], *const *arg_columns[EVENT_KINDS];

    /* Whether a database is of this profiler, by its tables. */
    bool (*is)(const struct readonly *readonly);

    /* Makes the state, and fills in read->tables. `head` is the state of an earlier reading of the
    ** same file, which knows its parts; NULL: they are to be found. False on failure, or with
    ** trouble. */
    bool (*open)(struct database_read *read, const void *head);

    /* Fills in what holds for the file: parts, rank, base; and writes members of its metadata. */
    bool (*describe)(struct database_read *read, sqlite3_str *metadata);

    /* Whether a table, whose columns are known, has those that its rows need; else with trouble. */
    bool (*complete)(struct database_read *read, const struct event_table *table);

    /* Handles a row of a table: adds it if it is one. */
    bool (*row)(struct database_read *read, int kind, const struct table_scan *scan, int64_t event);

    /* Called once all rows have been read. May be NULL. */
    bool (*finish)(struct database_read *read);

    /* Writes members of args for a row of the file; nothing: it has none. */
    bool (*args)(struct database_read *read, const struct trace_file *file, size_t row, int kind,
                 const struct table_scan *scan, sqlite3_str *json);

    /* Ends the reading: frees what is needed for it only. The rest of the state serves args. */
    void (*settle)(void *state);

    void (*free_state)(void *state);
};

extern const struct profiler nsys_profiler, rocpd_profiler, ascend_profiler;

/* What rows of databases have in common. `cat` and `name` are ids of names, or NAME_NONE; integers
** are NUMBER_NONE if there is none. */
struct database_row {
    int64_t event, ts, dur, correlation, stream;
    int64_t pid, tid;
    uint32_t cat, name;
    unsigned char phase;
    bool named_thread; /* tid is the id of a name */
};

/* Adds a row. False on failure. */
bool database_add(struct database_read *read, const struct database_row *row);

/* The id of a name; false on failure or trouble. Text that is not UTF-8 is repaired (G7). */
bool database_name(struct database_read *read, const void *text, size_t length, uint32_t *id);

/* The same for a name of many rows: `*kept` is its id plus 1, or 0 at first. */
bool database_kept_name(struct database_read *read, const char *name, uint32_t *kept, uint32_t *id);

/* A string in one of its uses. False on failure or trouble. */
bool database_string(struct database_read *read, struct string_table *strings, int64_t id, int how,
                     string_maker *make, struct string_use *use);

/* ts and dur of a start and an end (G8); counts what is wrong. NUMBER_NONE: without an end. */
void database_times(struct database_read *read, int64_t start, int64_t end, bool ended, int64_t *ts,
                    int64_t *dur);

/* Whether a table, whose columns are known, has a column that is needed; else with trouble. */
bool database_has(struct database_read *read, const struct readonly_table *table,
                  const char *column);

/* Runs through all rows of a table; a table that is NULL has none. `only` is as in scan_open().
** False on failure, or with trouble. */
bool database_each(struct database_read *read, struct readonly_table *table,
                   const char *const *columns, const char *only,
                   bool (*take)(struct database_read *read, const struct table_scan *scan));

/* Gives a file its metadata (G12): `host` NULL: unknown; `pid` NUMBER_NONE. */
bool args_metadata(struct trace_file *file, const char *producer, const char *host, size_t length,
                   int64_t pid, struct failure *failure);

/* For args. `json` has the members written so far; a NULL value writes nothing. */
void args_integer(sqlite3_str *json, const char *key, int64_t value);
void args_word(sqlite3_str *json, const char *key, const char *word); /* plain ASCII */
void args_raw(sqlite3_str *json, const char *key, const char *text, size_t length);
/* Writes a text in quotes, without a key. False if out of memory. */
bool args_quoted(sqlite3_str *json, const unsigned char *text, size_t length,
                 struct failure *failure);
bool args_text(sqlite3_str *json, const char *key, const unsigned char *text, size_t length,
               struct failure *failure);
void args_three(sqlite3_str *json, const char *key, int64_t x, int64_t y, int64_t z);
/* The device and the stream of a row. */
void args_device(sqlite3_str *json, const struct trace_file *file, size_t row);
/* "memory bandwidth (GB/s)" (G10). */
void args_bandwidth(sqlite3_str *json, int64_t bytes, int64_t dur);

#endif
