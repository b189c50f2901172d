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
#include "sqlite/function.h"
#include "version.h"

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
    int code = functions_register(connection, db, files, error);
    connection_release(connection);
    if (code == SQLITE_OK) /* loaded automatically, the error of a statement would count */
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
