#include "function.h"

#include <stdarg.h>

#include "base/memory.h"
#include "connection.h"

int function_arguments(const struct function *function, int *required)
{
    int count = 0;
    for (*required = 0; count < MOST_FUNCTION_ARGUMENTS && function->arguments[count].name; count++)
        *required += function->arguments[count].required;
    return count;
}

void function_fail(sqlite3_context *context, const char *name, const char *format, ...)
{
    sqlite3_str *text = sqlite3_str_new(NULL);
    va_list values;
    va_start(values, format);
    sqlite3_str_appendf(text, "%s: ", name);
    sqlite3_str_vappendf(text, format, values);
    va_end(values);
    char *message = sqlite3_str_finish(text);
    if (message)
        sqlite3_result_error(context, message, -1);
    else
        sqlite3_result_error_nomem(context);
    sqlite3_free(message);
}

bool function_end_work(sqlite3_context *context, struct connection *connection, bool done,
                       struct failure *failure)
{
    connection_end_work(connection);
    if (!done)
        sqlite3_result_error_code(context, failure->code == FAILURE_INTERRUPTED ? SQLITE_INTERRUPT
                                                                                : SQLITE_NOMEM);
    failure_clear(failure);
    return done;
}

/* Whether a function is already registered (S16: loading twice does nothing). */
static bool is_there(sqlite3 *db, const struct function *function, int arguments)
{
    static const char nulls[] =
        "NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL";
    _Static_assert(sizeof nulls == 6 * MOST_FUNCTION_ARGUMENTS - 1, "one for each argument");
    sqlite3_stmt *statement = NULL;
    char *sql = sqlite3_mprintf("SELECT %s(%.*s)", function->name,
                                arguments ? 6 * arguments - 2 : 0, nulls);
    bool there = sql && sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK;
    sqlite3_finalize(statement);
    sqlite3_free(sql);
    return there;
}

static void release_connection(void *connection)
{
    connection_release(connection);
}

static void release_data(void *data)
{
    connection_release(((struct function_data *)data)->connection);
    memory_free(data);
}

/* The user data of a function, with a reference to the connection; NULL if out of memory. */
static void *data_of(struct connection *connection, const struct function *function)
{
    struct function_data *data = function->data ? memory_allocate(sizeof *data) : NULL;
    if (data)
        *data = (struct function_data){connection, function->data};
    connection->references += !function->data || data;
    return function->data ? (void *)data : connection;
}

/* Registers a function once for each number of arguments that it accepts. */
static int register_function(struct connection *connection, sqlite3 *db,
                             const struct function *function)
{
    int code = SQLITE_OK, fewest, most = function_arguments(function, &fewest);
    for (int count = fewest; count <= most && code == SQLITE_OK; count++) {
        if (db == connection->db && is_there(db, function, count))
            continue;
        void *data = data_of(connection, function);
        code = !data ? SQLITE_NOMEM
                     : sqlite3_create_function_v2(
                           db, function->name, count,
                           SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, data,
                           function->call, function->step, function->final,
                           function->data ? release_data : release_connection);
    }
    return code;
}

int functions_register(struct connection *connection, sqlite3 *db, bool files, char **error)
{
    int code = SQLITE_OK;
    struct function plain;
    for (int i = 0; code == SQLITE_OK && connection->functions->function_at(i, &plain); i++)
        code = register_function(connection, db, &plain);
    return code == SQLITE_OK ? table_functions_register(connection, db, files, error) : code;
}
