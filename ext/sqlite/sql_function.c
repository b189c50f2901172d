/*
** Table functions whose rows are those of a SELECT: the files of sql/, embedded
** when building. The SELECT's named parameters are the function's arguments; the
** table functions it names are rewritten to `tracediff:NAME`, which nothing of the
** user's can hide (S11).
*/
#include <string.h>

#include "functions.h"

SQLITE_EXTENSION_INIT3

/* Binds the arguments by name (S18). */
static int bind_arguments(sqlite3_stmt *statement, const struct call *call)
{
    for (int i = 0; i < call->function->argument_count; i++) {
        char name[64];
        sqlite3_snprintf(sizeof name, name, ":%s", call->function->arguments[i].name);
        int parameter = sqlite3_bind_parameter_index(statement, name);
        if (parameter == 0 || !call->values[i])
            continue;
        int code = sqlite3_bind_value(statement, parameter, call->values[i]);
        if (code != SQLITE_OK)
            return code;
    }
    return SQLITE_OK;
}

static int run(struct call *call, struct rows **rows)
{
    sqlite3 *db = call->database->db;
    sqlite3_stmt *statement = NULL;
    struct result *result = NULL;
    int columns = call->function->column_count;
    int code = sqlite3_prepare_v2(db, call->function->sql, -1, &statement, NULL);
    if (code == SQLITE_OK)
        code = bind_arguments(statement, call);
    if (code == SQLITE_OK) {
        result = result_new(columns);
        while ((code = sqlite3_step(statement)) == SQLITE_ROW)
            for (int i = 0; i < columns; i++)
                result_value(result, sqlite3_column_value(statement, i));
    }
    if (code == SQLITE_DONE) {
        *rows = result_finish(result);
        result = NULL;
        code = *rows ? SQLITE_OK : SQLITE_NOMEM;
    } else if (code != SQLITE_NOMEM && code != SQLITE_INTERRUPT) {
        call->error = sqlite3_mprintf("%s", sqlite3_errmsg(db));
        if (!call->error)
            code = SQLITE_NOMEM;
    }
    result_free(result);
    sqlite3_finalize(statement);
    return code;
}

int sql_function_produce(struct call *call, struct rows **rows)
{
    struct database *database = call->database;
    if (database->nesting == DEEPEST_NESTING) {
        failure_set(&call->failure, FAILURE_REQUEST,
                    "functions written in SQL call each other more than %d deep: is one hidden "
                    "by a table of its name?",
                    DEEPEST_NESTING);
        return SQLITE_ERROR;
    }
    if (database->nesting++ == 0)
        database->speaking = call->function->name;
    int code = run(call, rows);
    if (--database->nesting == 0)
        database->speaking = NULL;
    return code;
}
