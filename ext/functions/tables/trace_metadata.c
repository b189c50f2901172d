/*
** trace_metadata: the members of trace files other than the events.
*/
#include <string.h>

#include "functions/call/call_metadata.h"

static const struct table_column columns_of_metadata[] = {
    {"file", "TEXT", "path"},
    {"rank", "INTEGER", "rank"},
    {"key", "TEXT", "top-level key of the document, except traceEvents"},
    {"value", "",
     "text or number; 1 and 0 for true and false; JSON for an object or array; NULL for null"},
};

static const struct argument arguments_of_metadata[] = {{TRACE_ARGUMENT}};

/* Destination for the rows of a file. */
struct metadata_rows {
    struct result *result;
    const struct trace_member *member;
};

static int add_value(void *to, sqlite3_stmt *row)
{
    const struct metadata_rows *rows = to;
    result_repaired(rows->result, rows->member->path, strlen(rows->member->path));
    result_integer(rows->result, rows->member->rank);
    for (int i = 0; i < 2; i++)
        result_value(rows->result, sqlite3_column_value(row, i), true);
    return SQLITE_OK;
}

static void add_metadata(struct call *call, struct result *result, const struct call_trace *opened,
                         size_t i)
{
    struct metadata_rows rows = {result, &opened->trace.members[i]};
    bool strict;
    if (rows.member->is_trace)
        call_metadata_read(call, rows.member->file, add_value, &rows, &strict);
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
    .text = "the top-level keys of a trace's files except traceEvents, one row per file and key",
    COLUMNS(columns_of_metadata),
    ARGUMENTS(arguments_of_metadata),
    .produce = metadata_produce,
};
