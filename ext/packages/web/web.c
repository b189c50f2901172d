/*
** What the page calls beside SQLite's own functions: the extension is linked, not loaded.
*/
#include <emscripten.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

int sqlite3_tracediff_init(sqlite3 *db, char **error, const sqlite3_api_routines *api);

/* Opens a database in memory with the extension; NULL if that fails. */
EMSCRIPTEN_KEEPALIVE sqlite3 *web_open(void)
{
    sqlite3 *db = NULL;
    sqlite3_auto_extension((void (*)(void))sqlite3_tracediff_init);
    if (sqlite3_open(":memory:", &db) == SQLITE_OK)
        return db;
    sqlite3_close(db);
    return NULL;
}

static int allow_queries(void *data, int action, const char *a, const char *b, const char *schema,
                         const char *by)
{
    (void)data, (void)a, (void)b, (void)schema, (void)by;
    bool reads = action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_FUNCTION ||
                 action == SQLITE_RECURSIVE;
    return reads ? SQLITE_OK : SQLITE_DENY;
}

/*
** Prepares the first statement of a text that the user wrote: SQLITE_AUTH if it is not a query.
** SQLite calls ATTACH, PRAGMA and BEGIN read-only, and asks for VACUUM only when it runs.
*/
EMSCRIPTEN_KEEPALIVE int web_prepare(sqlite3 *db, const char *sql, sqlite3_stmt **statement,
                                     const char **tail)
{
    sqlite3_set_authorizer(db, allow_queries, NULL);
    int code = sqlite3_prepare_v2(db, sql, -1, statement, tail);
    sqlite3_set_authorizer(db, NULL, NULL);
    if (code == SQLITE_OK && *statement && !sqlite3_stmt_readonly(*statement)) {
        sqlite3_finalize(*statement);
        return SQLITE_AUTH;
    }
    return code;
}
