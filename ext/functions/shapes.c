#include "shapes.h"

#include "../analysis/labels.h"
#include "../trace/args.h"

static const char dims_sql[] = "SELECT CASE WHEN json_valid(?1) THEN ?1 ->> '$.\"Input Dims\"' END";

/* Sets `*shape` to the id of one row's shapes. */
static int intern_dims(sqlite3_stmt *statement, const unsigned char *text, size_t length,
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

bool shapes_read(struct call *call, struct trace_file *file, uint32_t *shapes, struct names *names)
{
    const struct stopper *stopper = &call->database->cache.stopper;
    struct args_reader reader = {.file = NULL};
    sqlite3_stmt *statement = NULL;
    bool done = true;
    int code = sqlite3_prepare_v2(call->database->db, dims_sql, -1, &statement, NULL);
    for (size_t row = 0; row < file->columns.count && code == SQLITE_OK && done; row++) {
        const unsigned char *text;
        size_t length;
        bool wanted = shapes[row] != NAME_NONE && row_is(file, row, CATEGORY_OPERATOR);
        shapes[row] = NAME_NONE;
        if (!wanted)
            continue;
        done = args_read(&reader, file, row, stopper, &text, &length, &call->failure);
        if (done && text)
            code = intern_dims(statement, text, length, names, &shapes[row]);
    }
    char *what = sqlite3_mprintf("cannot read the shapes of '%s': ", file->path);
    done = call_check(call, what ? code : SQLITE_NOMEM, what) && done;
    sqlite3_free(what);
    args_close(&reader);
    sqlite3_finalize(statement);
    return done;
}
