/*
** Table functions written as a SELECT: the files of sql/, which the build embeds. The named
** parameters of the SELECT are the function's arguments. The build rewrites the table functions
** that it uses to `tracediff:NAME`, which no user's table can hide (S11).
*/
#include "sql_function.h"

#include <string.h>

#include "trace/opening.h"
#include "arguments.h"
#include "function.h"

int sql_bind(struct call *call, sqlite3_stmt *statement)
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

/* Whether an error is an overflow of sum() or trace_busy_time(). Their texts do not name the trace,
** so statement_failed() replaces them. SQLite has no code for that of sum(), but all of its text is
** this; that of a function which a statement uses begins with a name. */
static bool is_overflow(sqlite3 *db)
{
    return sqlite3_extended_errcode(db) == ERROR_OVERFLOW ||
           strcmp(sqlite3_errmsg(db), "integer overflow") == 0;
}

/* Reports the error of a statement. */
static void statement_failed(struct call *call)
{
    const char *message = sqlite3_errmsg(call->connection->db), *before = " (";
    if (!is_overflow(call->connection->db)) {
        failure_set(&call->failure, FAILURE_REQUEST, "%s", message);
        return;
    }
    sqlite3_str *text = sqlite3_str_new(NULL);
    sqlite3_str_appendall(text, "a sum is beyond 64 bits");
    for (int side = 0, i; (i = argument_of(call, NAMES_TRACE, side)) >= 0; side++)
        if (call->values[i]) {
            sqlite3_str_appendf(text, "%s%s '%s'", before, call->function->arguments[i].name,
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

/* Prepares a SELECT and binds its parameters. The caller finalizes the statement in any case. */
static int prepare(struct call *call, const char *sql, sqlite3_stmt **statement)
{
    int code = sqlite3_prepare_v2(call->connection->db, sql, -1, statement, NULL);
    return code == SQLITE_OK ? sql_bind(call, *statement) : code;
}

/* Fills call->failure with the error of a statement. Returns the code. */
static int statement_code(struct call *call, int code)
{
    if (code == SQLITE_DONE)
        code = SQLITE_OK;
    else if (code == SQLITE_NOMEM || code == SQLITE_INTERRUPT)
        call_check(call, code, "");
    else if (code != SQLITE_OK)
        statement_failed(call);
    return code;
}

int sql_run(struct call *call, const char *sql, int (*take)(void *to, sqlite3_stmt *row), void *to)
{
    sqlite3_stmt *statement = NULL;
    int code = prepare(call, sql, &statement);
    if (code == SQLITE_OK)
        while ((code = sqlite3_step(statement)) == SQLITE_ROW)
            if ((code = take(to, statement)) != SQLITE_OK)
                break;
    code = statement_code(call, code);
    sqlite3_finalize(statement);
    return code;
}

int sql_hold(struct call *call, const char *sql, sqlite3_stmt **statement)
{
    int code = prepare(call, sql, statement);
    if (code == SQLITE_OK && (code = sqlite3_step(*statement)) == SQLITE_ROW)
        return SQLITE_OK;
    code = statement_code(call, code);
    sqlite3_finalize(*statement);
    *statement = NULL;
    return code;
}

/* Reads the ranks or iterations of a side; false if they are none. A function without such an
** argument leaves `*selection` as it is. */
static bool read_selection(struct call *call, enum argument_role role, int side,
                           struct selection *selection)
{
    int i = argument_of(call, role, side);
    return i < 0 || argument_selection(call, i, selection);
}

/* Checks the ranks or iterations of a side. */
static bool check_selection(struct call *call, enum argument_role role, int side)
{
    struct selection selection = {.kind = SELECT_ALL};
    bool done = read_selection(call, role, side, &selection);
    selection_clear(&selection);
    return done;
}

/* Checks the paths of an argument that may be left out; -1: there is none. */
static bool check_paths(struct call *call, int argument)
{
    struct trace_paths paths = {.count = 0};
    bool done = argument < 0 || !call->values[argument] || argument_trace(call, argument, &paths);
    paths_clear(&paths);
    return done;
}

/* Checks the ranks, which the statements may give to functions that take more, and a baseline that
** may be left out, beside the trace. */
static bool check_one(struct call *call)
{
    int baseline = argument_of(call, NAMES_TRACE, 1);
    return check_selection(call, NAMES_RANKS, 0) &&
           (baseline < 0 || call->function->arguments[baseline].required ||
            (check_paths(call, baseline) && check_selection(call, NAMES_ITERATIONS, 1)));
}

/* Whether no ranks are given and by default they may be those of a job, so that all are read. */
static bool may_be_job(const struct call *call)
{
    int control = argument_of(call, NAMES_RANKS, 0), test = argument_of(call, NAMES_RANKS, 1);
    return argument_takes_job(call, control) && !call->values[control] && !call->values[test];
}

/* Reads the files of control and test side by side, because the statements of a function that has
** both ask for them one after the other. An argument that is wrong is named here: the statements
** know it under another name. Other failures than those of memory and interrupts are left to the
** statements, which name what is wrong. */
static bool read_both(struct call *call)
{
    struct call quiet = *call;
    struct trace opened[2] = {{.count = 0}}, *const traces[] = {&opened[0], &opened[1]};
    struct trace_paths paths[2] = {{.count = 0}};
    struct selection ranks[2] = {{.kind = SELECT_ALL}, {.kind = SELECT_ALL}};
    struct trace_request requests[2];
    bool done = true;
    for (int i = 0; i < 2 && done; i++) {
        requests[i] = (struct trace_request){
            .paths = &paths[i], .use = TRACE_FOR_FILES, .ranks = &ranks[i], .subject = ""};
        done = (may_be_job(call) || read_selection(call, NAMES_RANKS, i, &ranks[i])) &&
               check_selection(call, NAMES_ITERATIONS, i) &&
               argument_trace(&quiet, argument_of(call, NAMES_TRACE, i), &paths[i]) &&
               check_paths(call, argument_of(call, NAMES_CAPTURE, i));
    }
    if (done)
        trace_open(traces, requests, 2, &call->connection->cache, &quiet.failure);
    for (int i = 0; i < 2; i++) {
        trace_close(&opened[i]);
        paths_clear(&paths[i]);
        selection_clear(&ranks[i]);
    }
    if (quiet.failure.code == FAILURE_MEMORY || quiet.failure.code == FAILURE_INTERRUPTED)
        failure_move(&call->failure, &quiet.failure);
    failure_clear(&quiet.failure);
    return call->failure.code == FAILURE_NONE;
}

int sql_enter(struct call *call)
{
    struct connection *connection = call->connection;
    bool both = argument_of(call, NAMES_RANKS, 1) >= 0;
    if (connection->nesting == DEEPEST_NESTING) {
        failure_set(&call->failure, FAILURE_REQUEST,
                    "functions written in SQL are nested more than %d deep: does a table or a "
                    "view have the name of one?",
                    DEEPEST_NESTING);
        return SQLITE_ERROR;
    }
    if (!(both ? read_both(call) : check_one(call)))
        return SQLITE_ERROR;
    if (connection->nesting++ == 0)
        connection->speaking = call;
    return SQLITE_OK;
}

void sql_leave(struct call *call)
{
    if (--call->connection->nesting == 0)
        call->connection->speaking = NULL;
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
