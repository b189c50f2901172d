/*
** Scalar functions: tracediff_version and tracediff_debug.
*/
#include "../reader/source.h"
#include "../version.h"
#include "functions.h"

SQLITE_EXTENSION_INIT3

static void versionCall(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    (void)values;
    sqlite3_result_text(context, "v" TRACEDIFF_VERSION, -1, SQLITE_STATIC);
}

static void debugCall(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    (void)values;
    char *text = sqlite3_mprintf("tracediff v%s, commit %s, built with %s for SQLite %s or newer, "
                                 "gzip by %s, running on SQLite %s",
                                 TRACEDIFF_VERSION, TRACEDIFF_COMMIT, TRACEDIFF_COMPILER,
                                 TRACEDIFF_OLDEST_SQLITE, source_decoder(), sqlite3_libversion());
    if (text)
        sqlite3_result_text(context, text, -1, sqlite3_free);
    else
        sqlite3_result_error_nomem(context);
}

const struct scalar scalars[] = {
    {"tracediff_version", "TEXT", "version of this extension, such as v0.1.0", versionCall},
    {"tracediff_debug", "TEXT", "how it was built and on what it runs", debugCall},
};
const int scalar_count = COUNT_OF(scalars);
