#include "call_metadata.h"

#include "sqlite/json_array.h"

/* Gives the member of an object with key ?1 and value ?2, if it is strict JSON. json_each() is not
** used because a user's table could hide it (S11). */
static const char member_sql[] = "SELECT ?1 ->> '$', ?2 ->> '$'"
                                 " FROM (SELECT '{' || ?1 || ':' || ?2 || '}' AS m)"
                                 " WHERE json_type(m) IS NOT NULL AND (?3 OR json_valid(m))";

/* Sets `*new` to whether the key of a row is new (T17). */
static int know_key(struct names *seen, sqlite3_stmt *row, bool *new)
{
    const char *key = (const char *)sqlite3_column_text(row, 0);
    size_t known = seen->count;
    uint32_t id =
        key ? names_intern(seen, key, (size_t)sqlite3_column_bytes(row, 0)) : NAME_NONE;
    *new = id == known;
    return id == NAME_NONE ? SQLITE_NOMEM : SQLITE_OK;
}

bool call_metadata_read(struct call *call, const struct trace_file *file,
                   int (*take)(void *to, sqlite3_stmt *row), void *to, bool *strict)
{
    const char *p = file->metadata, *end = p ? p + file->metadata_length : NULL;
    struct names seen = {.count = 0};
    sqlite3_stmt *statement = NULL;
    bool new;
    int code = sqlite3_prepare_v2(call->connection->db, member_sql, -1, &statement, NULL);
    sqlite3_bind_int(statement, 3, json_type_is_strict());
    *strict = true;
    while (p && p < end && ++p < end && code == SQLITE_OK) { /* after `{` or `,` */
        const char *colon = scan_strict_end(p, end), *value = colon < end ? colon + 1 : end;
        const char *after = scan_strict_end(value, end);
        sqlite3_bind_text(statement, 1, p, (int)(colon - p), SQLITE_STATIC);
        sqlite3_bind_text(statement, 2, value, (int)(after - value), SQLITE_STATIC);
        code = sqlite3_step(statement);
        if (code == SQLITE_ROW) {
            code = know_key(&seen, statement, &new);
            code = code == SQLITE_OK && new ? take(to, statement) : code;
        } else if (code != SQLITE_NOMEM && code != SQLITE_INTERRUPT) {
            code = SQLITE_OK; /* malformed, too deep or too long for SQLite's JSON */
            *strict = false;
        }
        sqlite3_reset(statement);
        p = after;
    }
    bool done = call_check(call, code, "");
    sqlite3_finalize(statement);
    names_clear(&seen);
    return done;
}
