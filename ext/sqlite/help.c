/*
** tracediff_help: every function with its arguments and columns.
*/
#include "functions.h"

SQLITE_EXTENSION_INIT3

static const struct column columns_of_help[] = {
    {"function", "TEXT", "name of the function"},
    {"kind", "TEXT", "table, scalar or aggregate"},
    {"part", "TEXT", "function, argument or column"},
    {"position", "INTEGER", "of the argument or column, from 1"},
    {"name", "TEXT", "of the argument or column"},
    {"type", "TEXT", "declared type"},
    {"required", "INTEGER", "of an argument: 1 if it cannot be left out"},
    {"description", "TEXT", "what it is"},
};

static const struct table_function *const c_functions[] = {
    &trace_events_function,        &trace_files_function,   &trace_steps_function,
    &trace_ops_function,           &trace_diff_function,    &trace_step_time_function,
    &trace_kernel_owners_function, &trace_diff_by_function, &trace_diff_report_function,
    &tracediff_help_function,
};

const struct table_function *table_function_at(int i)
{
    if (i < COUNT_OF(c_functions))
        return c_functions[i];
    i -= COUNT_OF(c_functions);
    return i < sql_function_count ? &sql_functions[i] : NULL;
}

/* What a row says; position 0 is the function itself. */
struct part {
    const char *function, *kind, *part;
    int position;
    const char *name, *type, *description;
    const bool *required; /* of arguments */
};

static void add_part(struct result *result, struct part part)
{
    result_string(result, part.function);
    result_string(result, part.kind);
    result_string(result, part.part);
    if (part.position > 0)
        result_integer(result, part.position);
    else
        result_null(result);
    result_string(result, part.name);
    result_string(result, part.type && part.type[0] ? part.type : NULL);
    if (part.required)
        result_integer(result, *part.required);
    else
        result_null(result);
    result_string(result, part.description);
}

static void add_function(struct result *result, const struct function *it, const char *kind)
{
    add_part(result, (struct part){it->name, kind, "function", 0, NULL, it->type, it->text, NULL});
    for (int i = 0; i < MOST_FUNCTION_ARGUMENTS && it->arguments[i].name; i++) {
        const struct argument *argument = &it->arguments[i];
        add_part(result, (struct part){it->name, kind, "argument", i + 1, argument->name,
                                       argument->type, argument->text, &argument->required});
    }
}

static int help_produce(struct call *call, struct rows **rows)
{
    struct result *result = result_new(call->function->column_count);
    const struct table_function *function;
    for (int i = 0; (function = table_function_at(i)) != NULL; i++) {
        const char *name = function->name;
        add_part(result,
                 (struct part){name, "table", "function", 0, NULL, NULL, function->text, NULL});
        for (int j = 0; j < function->argument_count; j++) {
            const struct argument *it = &function->arguments[j];
            add_part(result, (struct part){name, "table", "argument", j + 1, it->name, it->type,
                                           it->text, &it->required});
        }
        for (int j = 0; j < function->column_count; j++) {
            const struct column *it = &function->columns[j];
            add_part(result, (struct part){name, "table", "column", j + 1, it->name, it->type,
                                           it->text, NULL});
        }
    }
    for (int i = 0; i < scalar_count; i++)
        add_function(result, &scalars[i], "scalar");
    for (int i = 0; i < aggregate_count; i++)
        add_function(result, &aggregates[i], "aggregate");
    struct function chart;
    for (int i = 0; chart_function_at(i, &chart); i++)
        add_function(result, &chart, "aggregate");
    *rows = result_finish(result);
    return *rows ? SQLITE_OK : SQLITE_NOMEM;
}

const struct table_function tracediff_help_function = {
    .name = "tracediff_help",
    .text = "every function with its arguments and columns",
    .columns = columns_of_help,
    .column_count = COUNT_OF(columns_of_help),
    .reads_files = false,
    .produce = help_produce,
};
