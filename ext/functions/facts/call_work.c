#include "call_work.h"

/* Returns the first chosen file of a trace; NULL: none. */
static const struct trace_file *first_file(const struct call_trace *opened)
{
    size_t i = 0;
    while (i < opened->trace.count && !opened->trace.members[i].chosen)
        i++;
    return i < opened->trace.count ? opened->trace.members[i].file : NULL;
}

/* Whether both sides name the same device, or neither names one (L5.2). It is unknown for a side
** whose metadata are not JSON. */
static bool same_device(struct call *call, const struct call_trace *opened, bool *same)
{
    static const char sql[] = "SELECT ?1 ->> '$.deviceProperties[0].name'"
                              " IS ?2 ->> '$.deviceProperties[0].name'";
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(call->connection->db, sql, -1, &statement, NULL);
    for (int i = 0; i < 2 && code == SQLITE_OK; i++) {
        const struct trace_file *file = first_file(&opened[i]);
        if (file && file->metadata)
            code = sqlite3_bind_text64(statement, i + 1, file->metadata, file->metadata_length,
                                       SQLITE_STATIC, SQLITE_UTF8);
    }
    if (code == SQLITE_OK)
        code = sqlite3_step(statement);
    *same = code == SQLITE_ROW && sqlite3_column_int(statement, 0);
    bool done = (code != SQLITE_NOMEM && code != SQLITE_INTERRUPT) || call_check(call, code, "");
    sqlite3_finalize(statement);
    return done;
}

bool call_work_find(struct call *call, const struct call_trace *opened, struct run_changes *changes)
{
    const struct run_side sides[2] = {{&opened[0].trace, &opened[0].steps},
                                      {&opened[1].trace, &opened[1].steps}};
    bool same;
    return same_device(call, opened, &same) &&
           run_changes_find(changes, sides, same, call_stopper(call), &call->failure);
}
