/*
** The functions that SQL sees. A table function in C is a file of ext/functions/ and a line
** here; sql/embed.awk reads the names from this file.
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
    FUNCTION(trace_kernel_owners) \
    FUNCTION(trace_diff_by) \
    FUNCTION(trace_diff_report) \
    FUNCTION(tracediff_help)
/* clang-format on */

/* The descriptor of NAME is `NAME_function`. */
#define DECLARE_FUNCTION(name) extern const struct table_function name##_function;
TABLE_FUNCTIONS(DECLARE_FUNCTION)
#undef DECLARE_FUNCTION

/* Those written in SQL, made from sql/ when building. */
extern const struct table_function sql_functions[];
extern const int sql_function_count;

/* The table function of a number, or NULL: first those in C, then those in SQL. */
const struct table_function *table_function_at(int i);

/* A scalar function, or an aggregate. */
enum { MOST_FUNCTION_ARGUMENTS = 8 };

struct function {
    const char *name, *type, *text;
    struct argument arguments[MOST_FUNCTION_ARGUMENTS]; /* up to the first without a name */
    void (*call)(sqlite3_context *context, int count, sqlite3_value **values);
    void (*step)(sqlite3_context *context, int count, sqlite3_value **values);
    void (*final)(sqlite3_context *context);
    const void *data; /* its user data; NULL: the struct database */
};
extern const struct function scalars[], aggregates[];
extern const int scalar_count, aggregate_count;

/* The function of a number: scalars, aggregates, then those that make charts. False after the
** last. */
bool function_at(int i, struct function *function);

/* How many arguments it has; of these `*required` must be given. */
int function_arguments(const struct function *function, int *required);

/* A row's value as a chart has it: SQLITE_OK, SQLITE_NOMEM, or SQLITE_MISMATCH for what is
** no number. It lives as long as the value does. */
struct chart;
struct chart_cell;
int chart_cell_take(const struct chart *chart, int column, sqlite3_value *value,
                    struct chart_cell *cell);

/* The aggregate of a number that makes a chart; false if there is none. */
bool chart_function_at(int i, struct function *function);

/* Says an error of a scalar or an aggregate, its name before it. */
void function_fail(sqlite3_context *context, const char *name, const char *format, ...);

/* The producer of functions written in SQL. */
int sql_function_produce(struct call *call, struct rows **rows);

/* Runs a SELECT with the call's arguments as its parameters, by name. For each row `take`
** is called; it returns a code. SQLITE_OK, or an error code with call->failure filled. */
int sql_run(struct call *call, const char *sql, int (*take)(void *to, sqlite3_stmt *row), void *to);

/* Around what runs SQL for a function: errors are said in its name, and nesting is limited. */
int sql_enter(struct call *call);
void sql_leave(struct call *call);

/* Figures of a report, made from sql/report/ when building. */
struct report_figure {
    const char *heading;
    const char *function; /* that draws it */
    const char *sql;      /* its rows, as it runs */
    const char *shown;    /* the same as written */
};
extern const struct report_figure report_figures[];
extern const int report_figure_count;

#endif
