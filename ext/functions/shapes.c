#include "shapes.h"

SQLITE_EXTENSION_INIT3

#include "../trace/args.h"

static const char dims_sql[] = "SELECT CASE WHEN json_valid(?1) THEN ?1 ->> '$.\"Input Dims\"' END";

/* The id of one row's shapes. */
static int take(sqlite3_stmt *statement, const unsigned char *text, size_t length,
                struct names *names, uint32_t *shape)
{
    sqlite3_reset(statement);
    int code =
        sqlite3_bind_text64(statement, 1, (const char *)text, length, SQLITE_STATIC, SQLITE_UTF8);
    if (code == SQLITE_OK)
        code = sqlite3_step(statement);
    if (code != SQLITE_ROW)
        return code;
    if (sqlite3_column_type(statement, 0) == SQLITE_NULL)
        return SQLITE_OK;
    const char *dims = (const char *)sqlite3_column_text(statement, 0);
    if (!dims)
        return SQLITE_NOMEM;
    *shape = names_intern(names, dims, (size_t)sqlite3_column_bytes(statement, 0));
    return *shape == NAME_NONE ? SQLITE_NOMEM : SQLITE_OK;
}

int shapes_read(struct call *call, struct trace_file *file, const uint32_t *rows, size_t count,
                struct names *names, uint32_t *shapes)
{
    const struct stopper *stopper = &call->database->cache.stopper;
    struct args_reader reader = {.file = NULL};
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(call->database->db, dims_sql, -1, &statement, NULL);
    for (size_t i = 0; i < count && code == SQLITE_OK; i++) {
        const unsigned char *text;
        size_t length;
        shapes[i] = NAME_NONE;
        if (!args_read(&reader, file, rows[i], stopper, &text, &length, &call->failure))
            code = SQLITE_ERROR;
        else if (text)
            code = take(statement, text, length, names, &shapes[i]);
    }
    args_close(&reader);
    sqlite3_finalize(statement);
    if (code == SQLITE_NOMEM || code == SQLITE_INTERRUPT)
        return code;
    if (code != SQLITE_OK && call->failure.code == FAILURE_NONE)
        failure_set(&call->failure, FAILURE_REQUEST, "cannot read the shapes of '%s': %s",
                    file->path, sqlite3_errmsg(call->database->db));
    return code == SQLITE_OK ? SQLITE_OK : SQLITE_ERROR;
}
