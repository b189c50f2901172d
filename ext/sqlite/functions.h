/*
** The functions there are.
*/
#ifndef TRACEDIFF_FUNCTIONS_H
#define TRACEDIFF_FUNCTIONS_H

#include "table_function.h"

extern const struct table_function trace_events_function;
extern const struct table_function trace_files_function;
extern const struct table_function trace_steps_function;
extern const struct table_function trace_ops_function;
extern const struct table_function trace_diff_function;
extern const struct table_function trace_step_time_function;
extern const struct table_function trace_kernel_owners_function;
extern const struct table_function trace_diff_by_function;
extern const struct table_function tracediff_help_function;

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

/* The aggregate of a number that makes a chart; false if there is none. */
bool chart_function_at(int i, struct function *function);

/* The producer of functions written in SQL. */
int sql_function_produce(struct call *call, struct rows **rows);

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof *(array)))

#endif
