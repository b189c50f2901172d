/*
** trace_metadata: the members of trace files other than the events.
*/
#include <string.h>

#include "functions/call/call_trace.h"
#include "sqlite/json_array.h"

static const struct table_column columns_of_metadata[] = {
    {"file", "TEXT", "path"},
    {"rank", "INTEGER", "rank"},
    {"key", "TEXT", "top-level key of the document, except traceEvents"},
    {"value", "", "text, number, 1 and 0 for true and false, NULL; an object or array is its JSON"},
};

static const struct argument arguments_of_metadata[] = {{TRACE_ARGUMENT}};

/* A member of an object if it is strict JSON; its key is bound to ?1 and its value to ?2.
** json_each() is not used because a user's table could hide it (S11). */
static const char member_sql[] = "SELECT ?1 ->> '$', ?2 ->> '$'"
                                 " FROM (SELECT '{' || ?1 || ':' || ?2 || '}' AS m)"
                                 " WHERE json_type(m) IS NOT NULL AND (?3 OR json_valid(m))";

/* Adds the key and value that a statement returned, unless the key was seen before (T17). */
static int add_value(struct result *result, const struct trace_member *member,
                     sqlite3_stmt *statement, struct names *seen)
{
    const char *key = (const char *)sqlite3_column_text(statement, 0);
    size_t length = (size_t)sqlite3_column_bytes(statement, 0), known = seen->count;
    uint32_t id = key ? names_intern(seen, key, length) : NAME_NONE;
    if (id == NAME_NONE)
        return SQLITE_NOMEM;
    if (id < known)
        return SQLITE_OK;
    result_repaired(result, member->path, strlen(member->path));
    result_integer(result, member->rank);
    for (int i = 0; i < 2; i++)
        result_value(result, sqlite3_column_value(statement, i), true);
    return SQLITE_OK;
}

/* Adds a row for each key of a file's metadata. */
static void add_metadata(struct call *call, struct result *result, const struct call_trace *opened,
                         size_t i)
{
    const struct trace_member *member = &opened->trace.members[i];
    const char *p = member->is_trace ? member->file->metadata : NULL;
    const char *end = p ? p + member->file->metadata_length : NULL;
    struct names seen = {.count = 0};
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(call->connection->db, member_sql, -1, &statement, NULL);
    sqlite3_bind_int(statement, 3, json_type_is_strict());
    while (p && p < end && ++p < end && code == SQLITE_OK) { /* after `{` or `,` */
        const char *colon = scan_strict_end(p, end), *value = colon < end ? colon + 1 : end;
        const char *after = scan_strict_end(value, end);
        sqlite3_bind_text(statement, 1, p, (int)(colon - p), SQLITE_STATIC);
        sqlite3_bind_text(statement, 2, value, (int)(after - value), SQLITE_STATIC);
        code = sqlite3_step(statement);
        if (code == SQLITE_ROW)
            code = add_value(result, member, statement, &seen);
        else if (code != SQLITE_NOMEM && code != SQLITE_INTERRUPT)
            code = SQLITE_OK; /* malformed, too deep or too long for SQLite's JSON */
        sqlite3_reset(statement);
        p = after;
    }
    call_check(call, code, "");
    sqlite3_finalize(statement);
    names_clear(&seen);
}

static int metadata_produce(struct call *call, struct rows **rows)
{
    static const struct call_trace_request request = {.use = TRACE_FOR_EVENTS};
    return call_trace_rows(call, &request, rows, add_metadata);
}

const struct table_function trace_metadata_function = {
    .name = "trace_metadata",
    .family = FAMILY_EVENTS_AND_FILES,
    .question = "Which devices, ranks and versions do the files name?",
    .text = "the top-level keys of a trace's files except traceEvents, a row each",
    COLUMNS(columns_of_metadata),
    ARGUMENTS(arguments_of_metadata),
    .produce = metadata_produce,
};
