#include "shapes.h"

#include <string.h>

#include "../analysis/labels.h"
#include "../reader/memory.h"
#include "../reader/scan.h"
#include "../trace/args.h"

static const char dims_sql[] = "SELECT CASE WHEN json_valid(?1) THEN ?1 ->> '$.\"Input Dims\"' END";

/* Shapes of operators. Most operators have shapes that an operator before had, written in the same
** way: JSON is made only of those that are new. */
struct shape_reader {
    sqlite3_stmt *statement;
    struct names *names;
    struct names written; /* arrays, as they are written */
    uint32_t *known;      /* by id of `written`: the id in `names`, or NAME_NONE */
    size_t capacity;
};

/* Sets `*shape` to the id of the shapes in args. */
static int ask_json(const struct shape_reader *reader, const unsigned char *args, size_t length,
                    uint32_t *shape)
{
    sqlite3_stmt *statement = reader->statement;
    sqlite3_reset(statement);
    int code =
        sqlite3_bind_text64(statement, 1, (const char *)args, length, SQLITE_STATIC, SQLITE_UTF8);
    if (code == SQLITE_OK)
        code = sqlite3_step(statement);
    if (code != SQLITE_ROW)
        return code;
    if (sqlite3_column_type(statement, 0) == SQLITE_NULL)
        return SQLITE_OK;
    const char *dims = (const char *)sqlite3_column_text(statement, 0);
    if (!dims)
        return SQLITE_NOMEM;
    *shape = names_intern(reader->names, dims, (size_t)sqlite3_column_bytes(statement, 0));
    return *shape == NAME_NONE ? SQLITE_NOMEM : SQLITE_OK;
}

/* Sets `*shape` to the id of the shapes in args, which are strict JSON. Keys with escapes are left
** to SQLite. */
static int find_shapes(struct shape_reader *reader, const unsigned char *args, size_t length,
                       uint32_t *shape)
{
    const struct token object = {args, length, TOKEN_NESTED};
    struct token dims;
    if (memchr(args, '\\', length) || !scan_member(&object, "Input Dims", &dims) ||
        dims.kind != TOKEN_NESTED)
        return ask_json(reader, args, length, shape);
    size_t count = reader->written.count;
    if (!MEMORY_GROW(reader->known, reader->capacity, count + 1))
        return SQLITE_NOMEM;
    uint32_t id = names_intern(&reader->written, dims.at, dims.length);
    if (id == NAME_NONE)
        return SQLITE_NOMEM;
    if (id < count) {
        *shape = reader->known[id];
        return SQLITE_OK;
    }
    int code = ask_json(reader, args, length, shape);
    reader->known[id] = *shape;
    return code;
}

bool shapes_read(struct call *call, struct trace_file *file, uint32_t *shapes, struct names *names)
{
    const struct stopper *stopper = &call->database->cache.stopper;
    struct args_reader args = {.file = NULL};
    struct shape_reader reader = {.names = names};
    bool done = true;
    int code = sqlite3_prepare_v2(call->database->db, dims_sql, -1, &reader.statement, NULL);
    for (size_t row = 0; row < file->columns.count && code == SQLITE_OK && done; row++) {
        const unsigned char *text;
        size_t length;
        bool wanted = shapes[row] != NAME_NONE && row_is(file, row, CATEGORY_OPERATOR);
        shapes[row] = NAME_NONE;
        if (!wanted)
            continue;
        done = args_read(&args, file, row, stopper, &text, &length, &call->failure);
        if (done && text)
            code = find_shapes(&reader, text, length, &shapes[row]);
    }
    char *what = sqlite3_mprintf("cannot read the shapes of '%s': ", file->path);
    done = call_check(call, what ? code : SQLITE_NOMEM, what) && done;
    sqlite3_free(what);
    args_close(&args);
    sqlite3_finalize(reader.statement);
    names_clear(&reader.written);
    memory_free(reader.known);
    return done;
}
