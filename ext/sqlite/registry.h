/*
** The functions that SQL sees. Each table function in C is a file of ext/functions/ and a line
** here. sql/embed.awk reads the names from this file.
*/
#ifndef TRACEDIFF_REGISTRY_H
#define TRACEDIFF_REGISTRY_H

#include "table_function.h"

/* clang-format off */
#define TABLE_FUNCTIONS(FUNCTION) \
    FUNCTION(trace_events) \
    FUNCTION(trace_files) \
    FUNCTION(trace_metadata) \
    FUNCTION(trace_steps) \
    FUNCTION(trace_ops) \
    FUNCTION(trace_diff) \
    FUNCTION(trace_step_time) \
    FUNCTION(trace_step_path) \
    FUNCTION(trace_step_causes) \
    FUNCTION(trace_job_path) \
    FUNCTION(trace_job_ranks) \
    FUNCTION(trace_job_parts) \
    FUNCTION(trace_job_clocks) \
    FUNCTION(trace_compared_ranks) \
    FUNCTION(trace_work_diff) \
    FUNCTION(critical_path) \
    FUNCTION(trace_kernel_owners) \
    FUNCTION(trace_subtree) \
    FUNCTION(trace_diff_by) \
    FUNCTION(trace_graph_diff) \
    FUNCTION(trace_ab) \
    FUNCTION(trace_diff_report) \
    FUNCTION(memory_timeline) \
    FUNCTION(memory_files) \
    FUNCTION(memory_events) \
    FUNCTION(memory_allocations) \
    FUNCTION(memory_segments) \
    FUNCTION(memory_peak) \
    FUNCTION(execution_trace) \
    FUNCTION(tracediff_help)
/* clang-format on */

/* The descriptor of NAME is `NAME_function`. */
#define DECLARE_FUNCTION(name) extern const struct table_function name##_function;
TABLE_FUNCTIONS(DECLARE_FUNCTION)
#undef DECLARE_FUNCTION

/* The functions written in SQL, generated from sql/ by the build. */
extern const struct table_function sql_functions[];
extern const int sql_function_count;

/* The ith table function; NULL after the last. Those in C come first, then those in SQL. */
const struct table_function *table_function_at(int i);

/* A scalar function, or an aggregate. */
enum { MOST_FUNCTION_ARGUMENTS = 12 };

struct function {
    const char *name, *type, *text;
    struct argument arguments[MOST_FUNCTION_ARGUMENTS]; /* end at the first without a name */
    void (*call)(sqlite3_context *context, int count, sqlite3_value **values);
    void (*step)(sqlite3_context *context, int count, sqlite3_value **values);
    void (*final)(sqlite3_context *context);
    const void *data; /* SQLite's user data; NULL: the struct database */
};
extern const struct function scalars[], aggregates[];
extern const int scalar_count, aggregate_count;

/* The ith function: scalars, then aggregates, then the aggregates that make charts. False after
** the last. */
bool function_at(int i, struct function *function);

/* The example of a function: lines of SQL. NULL if there is none. */
const char *example_of(const char *function);

/* How many arguments a function has; the first `*required` must be given. */
int function_arguments(const struct function *function, int *required);

/* The aggregate of the ith chart; false after the last. */
bool chart_function_at(int i, struct function *function);

/* Reports an error of a scalar or an aggregate; its name begins the text. */
void function_fail(sqlite3_context *context, const char *name, const char *format, ...);

/* Ends work that began with database_begin_work(). Returns `done`; if it is false, reports the
** failure, which is of memory or an interrupt. */
struct database;
bool function_end_work(sqlite3_context *context, struct database *database, bool done,
                       struct failure *failure);

/* The `produce` of functions written in SQL. */
int sql_function_produce(struct call *call, struct rows **rows);

/* Runs a SELECT, whose parameters are the call's arguments by name, and calls `take` for each
** row. `take` returns a SQLite result code. Returns SQLITE_OK, or an error code with
** call->failure filled. */
int sql_run(struct call *call, const char *sql, int (*take)(void *to, sqlite3_stmt *row), void *to);

/* The same for one row of a SELECT. Its statement stays open until the caller finalizes it, so the rows
** of its table functions are kept (table_function.h, rule 4). NULL on failure. */
int sql_hold(struct call *call, const char *sql, sqlite3_stmt **statement);

/* Enclose SQL that runs for a function: errors begin with its name, nesting is limited, and the
** files of its arguments `control` and `test` are read side by side. */
int sql_enter(struct call *call);
void sql_leave(struct call *call);

#endif
