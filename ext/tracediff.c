/*
** tracediff: reads PyTorch profiler traces as tables, and compares two of them.
**
**   .load ./tracediff
**   SELECT * FROM trace_diff('traces/control', 'traces/test') LIMIT 10;
**
** This file has the two entry points. sqlite3_tracediff_init registers all functions.
** sqlite3_tracediff_nofs_init registers only those that read no files, for hosts that run SQL from
** untrusted users.
*/
#include "access/roots.h"
#include "functions/registry.h"
#include "platform/export.h"
#include "platform/thread.h"
#include "version.h"

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
static int register_function(struct connection *connection, const struct function *function)
{
    int code = SQLITE_OK, fewest, most = function_arguments(function, &fewest);
    for (int count = fewest; count <= most && code == SQLITE_OK; count++) {
        if (is_there(connection->db, function, count))
            continue;
        void *data = data_of(connection, function);
        code = !data ? SQLITE_NOMEM
                     : sqlite3_create_function_v2(
                           connection->db, function->name, count,
                           SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, data,
                           function->call, function->step, function->final,
                           function->data ? release_data : release_connection);
    }
    return code;
}

static int register_all(sqlite3 *db, char **error, bool files)
{
    if (sqlite3_libversion_number() < TRACEDIFF_OLDEST_SQLITE_NUMBER) {
        *error = sqlite3_mprintf("tracediff needs SQLite %s or newer, this is %s",
                                 TRACEDIFF_OLDEST_SQLITE, sqlite3_libversion());
        return SQLITE_ERROR;
    }
    struct failure failure = {.code = FAILURE_NONE};
    if (files && !roots_take(&failure)) {
        bool told = failure.text && (*error = sqlite3_mprintf("%s", failure.text));
        failure_clear(&failure);
        return told ? SQLITE_ERROR : SQLITE_NOMEM;
    }
    struct connection *connection = connection_new(db, &all_functions);
    if (!connection)
        return SQLITE_NOMEM;
    int code = SQLITE_OK;
    struct function plain;
    for (int i = 0; code == SQLITE_OK && all_functions.function_at(i, &plain); i++)
        code = register_function(connection, &plain);
    if (code == SQLITE_OK)
        code = table_functions_register(connection, files, error);
    connection_release(connection);
    if (code == SQLITE_OK) /* loaded automatically, an error that is_there() leaves would count */
        sqlite3_exec(db, "", NULL, NULL, NULL);
    return code;
}

/* SQLITE_EXTENSION_INIT2, but writes only once: other threads may already read the pointer. */
static void take_api(const sqlite3_api_routines *api)
{
    static struct mutex mutex = MUTEX_INITIAL;
    mutex_lock(&mutex);
    if (sqlite3_api != api)
        sqlite3_api = api;
    mutex_unlock(&mutex);
}

EXPORTED int sqlite3_tracediff_init(sqlite3 *db, char **error, const sqlite3_api_routines *api);
EXPORTED int sqlite3_tracediff_nofs_init(sqlite3 *db, char **error,
                                         const sqlite3_api_routines *api);

int sqlite3_tracediff_init(sqlite3 *db, char **error, const sqlite3_api_routines *api)
{
    take_api(api);
    return register_all(db, error, true);
}

int sqlite3_tracediff_nofs_init(sqlite3 *db, char **error, const sqlite3_api_routines *api)
{
    take_api(api);
    return register_all(db, error, false);
}
