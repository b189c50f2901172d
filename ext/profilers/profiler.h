/*
** The interface to the databases of one profiler. A profiler names the tables with events. The
** reader (database_rows.c) numbers their rows as events (G9) and passes each row to the profiler.
*/
#ifndef TRACEDIFF_PROFILER_H
#define TRACEDIFF_PROFILER_H

#include "database/string_table.h"
#include "loading/loading.h"

/* A table with events. */
struct event_table {
    struct readonly_table *table; /* NULL: the database lacks it */
    int kind;                     /* number defined by the profiler */
    bool owned;                   /* all its rows belong to one part: */
    size_t part;                  /* index of that part */
};

enum { EVENT_TABLES = 512 /* limit */, EVENT_KINDS = 8 };

/* A database being read. */
struct database_read {
    struct readonly *readonly; /* borrowed; several parts may share it */
    struct loading *loading;   /* NULL while args are read */
    struct trace_file *file;   /* NULL while args are read */
    struct failure *failure;
    struct event_table tables[EVENT_TABLES]; /* in order of events */
    size_t table_count;
    int64_t named;     /* total bytes of the names added */
    void *state;       /* private to the profiler */
    const void *known; /* while args are read: the state from reading the rows */
};

struct profiler {
    const char *name;

    /* By kind of table: the columns for rows, and those for args. Each list ends with NULL. */
    const char *const *columns[EVENT_KINDS], *const *arg_columns[EVENT_KINDS];

    /* Whether a database comes from this profiler, judged by its tables. */
    bool (*is)(const struct readonly *readonly);

    /* Makes the state, and fills in read->tables. `head` is the state of an earlier look at the
    ** same file, with its parts; NULL: find the parts. False on failure, or with trouble. */
    bool (*open)(struct database_read *read, const void *head);

    /* Fills in the facts about the file (parts, rank, base) and writes members of its metadata. */
    bool (*describe)(struct database_read *read, sqlite3_str *metadata);

    /* Whether a table with known columns has those needed for rows; otherwise sets the trouble. */
    bool (*complete)(struct database_read *read, const struct event_table *table);

    /* Handles a row of a table, and adds it if it is an event. */
    bool (*row)(struct database_read *read, int kind, const struct table_scan *scan, int64_t event);

    /* Called after the last row. May be NULL. */
    bool (*finish)(struct database_read *read);

    /* Writes members of args for a row of the file; writes nothing if it has no args. */
    bool (*args)(struct database_read *read, const struct trace_file *file, size_t row, int kind,
                 const struct table_scan *scan, sqlite3_str *json);

    /* Frees the data that only reading needs. The rest of the state serves args. */
    void (*settle)(void *state);

    void (*free_state)(void *state);
};

extern const struct profiler nsys_profiler, rocpd_profiler, ascend_profiler;

/* Common columns of database rows. `cat` and `name` are ids of names, or NAME_NONE; missing
** integers are NUMBER_NONE. */
struct database_row {
    int64_t event, ts, dur, correlation, stream;
    int64_t pid, tid;
    uint32_t cat, name;
    unsigned char phase;
    bool named_thread; /* `tid` is a name id */
};

/* Adds a row. False on failure. */
bool database_add(struct database_read *read, const struct database_row *row);

/* Finds the id of a name; false on failure or trouble. Invalid UTF-8 is repaired (G7). */
bool database_name(struct database_read *read, const void *text, size_t length, uint32_t *id);

/* The same for a frequent name: `*kept` caches its id plus 1, and starts as 0. */
bool database_kept_name(struct database_read *read, const char *name, uint32_t *kept, uint32_t *id);

/* Gets a string for a use. False on failure or trouble. */
bool database_string(struct database_read *read, struct string_table *strings, int64_t id, int how,
                     string_maker *make, struct string_use *use);

/* Computes ts and dur (G8), and counts problems. dur is NUMBER_NONE without an end. */
void database_times(struct database_read *read, int64_t start, int64_t end, bool ended, int64_t *ts,
                    int64_t *dur);

/* Whether a table with known columns has a required column; otherwise sets the trouble. */
bool database_has(struct database_read *read, const struct readonly_table *table,
                  const char *column);

/* Calls a function for all rows of a table; NULL means an empty table. See scan_open() for `only`.
** False on failure, or with trouble. */
bool database_each(struct database_read *read, struct readonly_table *table,
                   const char *const *columns, const char *only,
                   bool (*take)(struct database_read *read, const struct table_scan *scan));

/* Sets the metadata of a file (G12). `host` NULL, `pid` NUMBER_NONE: unknown. */
bool args_metadata(struct trace_file *file, const char *producer, const char *host, size_t length,
                   int64_t pid, struct failure *failure);

/* These write args. `json` has the members so far. A missing value (NULL) writes nothing. */
void args_integer(sqlite3_str *json, const char *key, int64_t value);
void args_word(sqlite3_str *json, const char *key, const char *word); /* plain ASCII */
void args_raw(sqlite3_str *json, const char *key, const char *text, size_t length);
/* Writes a text in quotes, without a key. False if out of memory. */
bool args_quoted(sqlite3_str *json, const unsigned char *text, size_t length,
                 struct failure *failure);
bool args_text(sqlite3_str *json, const char *key, const unsigned char *text, size_t length,
               struct failure *failure);
void args_three(sqlite3_str *json, const char *key, int64_t x, int64_t y, int64_t z);
/* Writes the device and the stream of a row. */
void args_device(sqlite3_str *json, const struct trace_file *file, size_t row);
/* Writes "memory bandwidth (GB/s)" (G10). */
void args_bandwidth(sqlite3_str *json, int64_t bytes, int64_t dur);

#endif
