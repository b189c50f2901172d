/*
** Table functions written as a SELECT: the files of sql/, which the build embeds. The named
** parameters of the SELECT are the function's arguments. The build rewrites the table functions
** that it uses to `tracediff:NAME`, which no user's table can hide (S11).
*/
#include <string.h>

#include "arguments.h"
#include "registry.h"

/* Binds the arguments by name (S18). */
static int bind_arguments(sqlite3_stmt *statement, struct call *call)
{
    for (int i = 0; i < call->function->argument_count; i++) {
        char name[64];
        sqlite3_snprintf(sizeof name, name, ":%s", call->function->arguments[i].name);
        int parameter = sqlite3_bind_parameter_index(statement, name);
        if (parameter == 0 || !call->values[i])
            continue;
        int code = argument_bind(call, i, statement, parameter);
        if (code != SQLITE_OK)
            return code;
    }
    return SQLITE_OK;
}

/* Whether an error is an overflow of sum() or trace_busy_time(). Their texts name neither the
** function nor the trace, so statement_failed() replaces them. */
static bool is_overflow(const char *message)
{
    static const char *const tails[] = {"integer overflow", "beyond 64 bits"};
    size_t length = strlen(message);
    for (int i = 0; i < COUNT_OF(tails); i++) {
        size_t tail = strlen(tails[i]);
        if (length >= tail && strcmp(message + length - tail, tails[i]) == 0)
            return true;
    }
    return false;
}

/* Reports the error of a statement. */
static void statement_failed(struct call *call)
{
    static const char *const traces[] = {"trace", "control", "test"};
    const char *message = sqlite3_errmsg(call->database->db), *before = " (";
    if (!is_overflow(message)) {
        failure_set(&call->failure, FAILURE_REQUEST, "%s", message);
        return;
    }
    sqlite3_str *text = sqlite3_str_new(NULL);
    sqlite3_str_appendall(text, "a sum is beyond 64 bits");
    for (int i = 0; i < call->function->argument_count; i++)
        for (int j = 0; j < COUNT_OF(traces); j++)
            if (call->values[i] && strcmp(call->function->arguments[i].name, traces[j]) == 0) {
                sqlite3_str_appendf(text, "%s%s '%s'", before, traces[j],
                                    sqlite3_value_text(call->values[i]));
                before = ", ";
            }
    if (before[0] == ',')
        sqlite3_str_appendchar(text, 1, ')');
    char *whole = sqlite3_str_finish(text);
    if (whole)
        failure_set(&call->failure, FAILURE_REQUEST, "%s", whole);
    else
        failure_memory(&call->failure);
    sqlite3_free(whole);
}

int sql_run(struct call *call, const char *sql, int (*take)(void *to, sqlite3_stmt *row), void *to)
{
    sqlite3 *db = call->database->db;
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    if (code == SQLITE_OK)
        code = bind_arguments(statement, call);
    if (code == SQLITE_OK)
        while ((code = sqlite3_step(statement)) == SQLITE_ROW)
            if ((code = take(to, statement)) != SQLITE_OK)
                break;
    if (code == SQLITE_DONE)
        code = SQLITE_OK;
    else if (code != SQLITE_NOMEM && code != SQLITE_INTERRUPT)
        statement_failed(call);
    sqlite3_finalize(statement);
    return code;
}

int sql_enter(struct call *call)
{
    struct database *database = call->database;
    if (database->nesting == DEEPEST_NESTING) {
        failure_set(&call->failure, FAILURE_REQUEST,
                    "functions written in SQL are nested more than %d deep: does a table or a "
                    "view have the name of one?",
                    DEEPEST_NESTING);
        return SQLITE_ERROR;
    }
    if (database->nesting++ == 0)
        database->speaking = call->function->name;
    return SQLITE_OK;
}

void sql_leave(struct call *call)
{
    if (--call->database->nesting == 0)
        call->database->speaking = NULL;
}

static int add_sql_row(void *to, sqlite3_stmt *row)
{
    int columns = sqlite3_column_count(row);
    for (int i = 0; i < columns; i++)
        result_value(to, sqlite3_column_value(row, i), false);
    return SQLITE_OK;
}

int sql_function_produce(struct call *call, struct rows **rows)
{
    int code = sql_enter(call);
    if (code != SQLITE_OK)
        return code;
    struct result *result = result_new(call->function->column_count);
    code = sql_run(call, call->function->sql, add_sql_row, result);
    sql_leave(call);
    return result_finish(result, code, rows);
}
