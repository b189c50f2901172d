/*
** trace_files: what there is to be read, and what is wrong with it. trace_metadata: what
** its files say besides events. trace_steps: the steps of a trace.
*/
#include <stdlib.h>
#include <string.h>

#include "../analysis/summary.h"
#include "../sqlite/arguments.h"
#include "../sqlite/registry.h"

SQLITE_EXTENSION_INIT3

#include "../reader/memory.h"
#include "../reader/text.h"

static const struct selection every_rank = {.kind = SELECT_ALL};

static const struct argument trace_argument[] = {
    {"trace", "TEXT", true, "directory, file, pattern or JSON array of these"},
};

static const struct column columns_of_files[] = {
    {"file", "TEXT", "path"},
    {"rank", "INTEGER", "rank; NULL for what is no trace"},
    {"rank_source", "TEXT", "where it stands: distributedInfo, name or order"},
    {"world_size", "INTEGER", "distributedInfo.world_size"},
    {"backend", "TEXT", "distributedInfo.backend"},
    {"device", "TEXT", "name of the first device"},
    {"steps", "INTEGER", "distinct profiler steps"},
    {"first_step", "INTEGER", "lowest of them"},
    {"last_step", "INTEGER", "highest of them"},
    {"events", "INTEGER", "elements of traceEvents"},
    {"rows", "INTEGER", "of these, rows of trace_events"},
    {"skipped", "INTEGER", "of these, passed over as no event"},
    {"problems", "TEXT", "JSON array of {what, count, first_byte}; bytes are counted from 1"},
    {"start_unix_ns", "INTEGER", "ns since 1970; NULL without baseTimeNanoseconds"},
    {"start_ns", "INTEGER", "ns, absolute: earliest event"},
    {"end_ns", "INTEGER", "ns, absolute: latest end"},
    {"size", "INTEGER", "bytes on disk"},
    {"json_size", "INTEGER", "bytes of JSON"},
};

/* Adds an element to the JSON array of problems. */
static void add_problem(sqlite3_str *list, const char *what, int64_t count, int64_t first_byte)
{
    sqlite3_str_appendf(list, "%s{\"what\":\"", sqlite3_str_length(list) > 0 ? "," : "");
    for (const unsigned char *p = (const unsigned char *)what; *p; p++)
        if (*p < 0x20 || *p == '"' || *p == '\\')
            sqlite3_str_appendf(list, "\\u%04x", *p);
        else
            sqlite3_str_appendchar(list, 1, (char)*p);
    sqlite3_str_appendf(list, "\",\"count\":%lld", (long long)count);
    if (first_byte > 0)
        sqlite3_str_appendf(list, ",\"first_byte\":%lld", (long long)first_byte);
    else
        sqlite3_str_appendall(list, ",\"first_byte\":null");
}

/* `strict`: whether SQLite's JSON takes the metadata; `again`: how many more times the file
** was given. */
static char *problems_of(const struct trace_member *member, bool strict, size_t again)
{
    const struct trace_file *file = member->file;
    sqlite3_str *list = sqlite3_str_new(NULL), *array = sqlite3_str_new(NULL);
    const struct failure *trouble = file ? &file->trouble : &member->failure;
    if (trouble->code != FAILURE_NONE) {
        const char *text = trouble->what ? trouble->what : trouble->text;
        add_problem(list, text ? text : "out of memory", 1, trouble->byte);
        sqlite3_str_appendchar(list, 1, '}');
    }
    for (int i = 0; file && i < PROBLEM_COUNT; i++) {
        if (file->problems.count[i] == 0)
            continue;
        add_problem(list, problem_text((enum problem)i), file->problems.count[i],
                    file->problems.first_byte[i]);
        if (i == PROBLEM_BACKLOG || i == PROBLEM_NO_LAUNCH) {
            int64_t ns = i == PROBLEM_BACKLOG ? file->backlog : file->unlaunched;
            sqlite3_str_appendf(list, ",\"us\":%lld.%03lld", (long long)(ns / 1000),
                                (long long)(ns % 1000));
        }
        sqlite3_str_appendchar(list, 1, '}');
    }
    if (file && file->metadata && !strict) {
        add_problem(list, "metadata left out: not strict JSON, or nested too deep", 1, 0);
        sqlite3_str_appendchar(list, 1, '}');
    }
    if (again > 0) {
        add_problem(list, "file given more than once: read once", (int64_t)again, 0);
        sqlite3_str_appendchar(list, 1, '}');
    }
    int length = sqlite3_str_length(list), error = sqlite3_str_errcode(list);
    char *elements = sqlite3_str_finish(list);
    if (error == SQLITE_OK)
        sqlite3_str_appendf(array, "[%s]", length > 0 ? elements : "");
    sqlite3_free(elements);
    char *text = sqlite3_str_finish(array);
    return error == SQLITE_OK ? text : (sqlite3_free(text), (char *)NULL);
}

/* The lowest and highest number of the steps of a file, and how many there are. */
static int64_t step_range(const struct trace_file *file, int64_t *first, int64_t *last)
{
    int64_t count = 0;
    unsigned char *seen = memory_zeroed(file->iteration_count, 1);
    if (!seen)
        return -1;
    for (size_t i = 0; i < file->step_count; i++)
        seen[file->steps[i].iteration] = 1;
    for (size_t i = 0; i < file->iteration_count; i++) {
        if (!seen[i])
            continue;
        if (count++ == 0)
            *first = file->iterations[i];
        *last = file->iterations[i];
    }
    memory_free(seen);
    return count;
}

/* What SQLite's JSON makes of the metadata, bound to ?1: an error if that is not JSON. (Not
** json_valid(), which is 0 if out of memory.) */
static const char summary_sql[] =
    "SELECT m ->> '$.distributedInfo.world_size', m ->> '$.distributedInfo.backend',"
    " m ->> '$.deviceProperties[0].name'"
    " FROM (SELECT ?1 AS m) WHERE json_type(m) IS NOT NULL";

/* A step of a statement over metadata: SQLITE_ROW, SQLITE_DONE, or another code that is
** fatal. What SQLite's JSON finds malformed, too deep or too long gives no row. */
static int step_metadata(sqlite3_stmt *metadata)
{
    int code = sqlite3_step(metadata);
    return code == SQLITE_ROW || code == SQLITE_NOMEM || code == SQLITE_INTERRUPT ? code
                                                                                  : SQLITE_DONE;
}

/* A text with U+FFFD for what is not UTF-8; an error code. */
static int put_text(struct result *result, const char *text, size_t length)
{
    unsigned char *repaired = memory_allocate(3 * length + 1);
    if (!repaired)
        return SQLITE_NOMEM;
    result_text(result, (const char *)repaired,
                text_repair((const unsigned char *)text, length, repaired));
    memory_free(repaired);
    return SQLITE_OK;
}

/* A path as column `file` has it. */
static int put_path(struct result *result, const char *path)
{
    return put_text(result, path, strlen(path));
}

/* A value that was read from a file. */
static int put_value(struct result *result, sqlite3_stmt *statement, int column)
{
    sqlite3_value *value = sqlite3_column_value(statement, column);
    if (sqlite3_value_type(value) == SQLITE_TEXT) {
        const char *text = (const char *)sqlite3_value_text(value);
        return text ? put_text(result, text, (size_t)sqlite3_value_bytes(value)) : SQLITE_NOMEM;
    }
    result_value(result, value);
    return SQLITE_OK;
}

static void put_figures(struct result *result, const struct trace_file *file, int64_t steps,
                        int64_t first_step, int64_t last_step)
{
    result_integer(result, steps);
    result_integer_if(result, first_step, steps > 0);
    result_integer_if(result, last_step, steps > 0);
    result_integer(result, file->events);
    result_integer(result, (int64_t)file->columns.count);
    result_integer(result, file->skipped);
}

/* One row of trace_files; an error code. `again`: how many more times the file was given. */
static int add_file(struct result *result, const struct trace_member *member, size_t again,
                    sqlite3_stmt *metadata)
{
    static const char *const sources[] = {"distributedInfo", "name", "order"};
    static const struct trace_file nothing = {.first = NUMBER_NONE, .last = NUMBER_NONE};
    const struct trace_file *file = member->file ? member->file : &nothing;
    int64_t first = 0, last = 0, steps = step_range(file, &first, &last);
    sqlite3_bind_text(metadata, 1, file->metadata, (int)file->metadata_length, SQLITE_STATIC);
    int code = step_metadata(metadata);
    char *problems = problems_of(member, code == SQLITE_ROW, again);
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        goto cleanup;
    bool strict = code == SQLITE_ROW;
    code = steps < 0 || !problems ? SQLITE_NOMEM : put_path(result, member->path);
    if (code != SQLITE_OK)
        goto cleanup;
    result_integer_if(result, member->rank, member->is_trace);
    result_string(result, member->is_trace ? sources[member->rank_source] : NULL);
    for (int i = 0; i < 3 && code == SQLITE_OK; i++) {
        if (strict)
            code = put_value(result, metadata, i);
        else
            result_null(result);
    }
    put_figures(result, file, steps, first, last);
    result_string(result, problems);
    result_integer_if(result, file->first, file->has_base && file->first != NUMBER_NONE);
    result_integer_if(result, file->first, file->first != NUMBER_NONE);
    result_integer_if(result, file->last, file->last != NUMBER_NONE);
    result_integer_if(result, file->identity.size, member->file != NULL);
    result_integer_if(result, file->json_size, member->file != NULL);
cleanup:
    sqlite3_free(problems);
    sqlite3_reset(metadata);
    return code;
}

/* Opens the trace of argument 0 with all its ranks. */
static bool open_whole(struct call *call, enum trace_use use, struct trace *trace)
{
    struct trace_paths paths = {NULL, 0, 0};
    struct trace_request request = {use, NULL, &every_rank, "the trace"};
    if (argument_trace(call, 0, &paths))
        return trace_open(trace, &paths, &call->database->cache, &request, &call->failure);
    paths_clear(&paths);
    return false;
}

/* Makes rows of each file of a trace with the help of a statement over its metadata. */
static int produce(struct call *call, struct rows **rows, enum trace_use use, const char *sql,
                   int (*add)(struct result *result, const struct trace_member *member,
                              size_t again, sqlite3_stmt *metadata))
{
    struct trace trace = {.count = 0};
    struct result *result = NULL;
    sqlite3_stmt *metadata = NULL;
    int code = SQLITE_ERROR;
    if (!open_whole(call, use, &trace))
        goto cleanup;
    result = result_new(call->function->column_count);
    code = sqlite3_prepare_v2(call->database->db, sql, -1, &metadata, NULL);
    for (size_t i = 0; i < trace.count && code == SQLITE_OK; i++)
        code = add(result, &trace.members[i], trace.paths.items[i].again, metadata);
    if (code == SQLITE_OK) {
        *rows = result_finish(result);
        result = NULL;
        code = *rows ? SQLITE_OK : SQLITE_NOMEM;
    }
cleanup:
    sqlite3_finalize(metadata);
    result_free(result);
    trace_close(&trace);
    return code;
}

static int files_produce(struct call *call, struct rows **rows)
{
    return produce(call, rows, TRACE_FOR_FILES, summary_sql, add_file);
}

const struct table_function trace_files_function = {
    .name = "trace_files",
    .text = "the files of a trace, also the bad ones, a row each",
    .columns = columns_of_files,
    .column_count = COUNT_OF(columns_of_files),
    .arguments = trace_argument,
    .argument_count = COUNT_OF(trace_argument),
    .reads_files = true,
    .produce = files_produce,
};

static const struct column columns_of_metadata[] = {
    {"file", "TEXT", "path"},
    {"rank", "INTEGER", "rank"},
    {"key", "TEXT", "top-level key of the document, but traceEvents"},
    {"value", "", "text, number, 1 and 0 for true and false, NULL; an object or array is its JSON"},
};

/* A member of an object, whose key is bound to ?1 and value to ?2, if it is strict JSON.
** Not json_each: a table of the user's could hide it (S11). */
static const char member_sql[] = "SELECT ?1 ->> '$', ?2 ->> '$'"
                                 " WHERE json_type('{' || ?1 || ':' || ?2 || '}') IS NOT NULL";

/* A row for the member that a statement has, unless its key was seen before (T17). */
static int add_member(struct result *result, const struct trace_member *member,
                      sqlite3_stmt *statement, struct names *seen)
{
    const char *key = (const char *)sqlite3_column_text(statement, 0);
    size_t length = (size_t)sqlite3_column_bytes(statement, 0);
    if (!key)
        return SQLITE_NOMEM;
    if (names_find(seen, key, length) != NAME_NONE)
        return SQLITE_OK;
    if (names_intern(seen, key, length) == NAME_NONE)
        return SQLITE_NOMEM;
    int code = put_path(result, member->path);
    result_integer(result, member->rank);
    for (int i = 0; i < 2 && code == SQLITE_OK; i++)
        code = put_value(result, statement, i);
    return code;
}

/* A row each member of a file's metadata. */
static int add_metadata(struct result *result, const struct trace_member *member, size_t again,
                        sqlite3_stmt *statement)
{
    const char *p = member->is_trace ? member->file->metadata : NULL;
    const char *end = p ? p + member->file->metadata_length : NULL;
    struct names seen = {.count = 0};
    int code = SQLITE_OK;
    (void)again;
    while (p && p < end && ++p < end && code == SQLITE_OK) { /* after `{` or `,` */
        const char *colon = json_value_end(p, end), *value = colon < end ? colon + 1 : end;
        const char *after = json_value_end(value, end);
        sqlite3_bind_text(statement, 1, p, (int)(colon - p), SQLITE_STATIC);
        sqlite3_bind_text(statement, 2, value, (int)(after - value), SQLITE_STATIC);
        code = step_metadata(statement);
        if (code == SQLITE_ROW)
            code = add_member(result, member, statement, &seen);
        code = code == SQLITE_DONE ? SQLITE_OK : code;
        sqlite3_reset(statement);
        p = after;
    }
    names_clear(&seen);
    return code;
}

static int metadata_produce(struct call *call, struct rows **rows)
{
    return produce(call, rows, TRACE_FOR_EVENTS, member_sql, add_metadata);
}

const struct table_function trace_metadata_function = {
    .name = "trace_metadata",
    .text = "what the files of a trace say besides events, a row each key",
    .columns = columns_of_metadata,
    .column_count = COUNT_OF(columns_of_metadata),
    .arguments = trace_argument,
    .argument_count = COUNT_OF(trace_argument),
    .reads_files = true,
    .produce = metadata_produce,
};

static const struct column columns_of_steps[] = {
    {"rank", "INTEGER", "rank of the file"},
    {"iteration", "INTEGER", "N of ProfilerStep#N"},
    {"ts", "REAL", "us from the earliest event of the rank"},
    {"dur", "REAL", "us"},
    {"file", "TEXT", "path"},
    {"ts_ns", "INTEGER", "ns, absolute"},
    {"dur_ns", "INTEGER", "ns"},
};

static int steps_produce(struct call *call, struct rows **rows)
{
    struct trace trace = {.count = 0};
    struct result *result = NULL;
    int code = SQLITE_ERROR;
    if (!open_whole(call, TRACE_FOR_STEPS, &trace))
        goto cleanup;
    result = result_new(call->function->column_count);
    for (size_t i = 0; i < trace.count; i++) {
        const struct trace_member *member = &trace.members[i];
        for (size_t s = 0; member->chosen && s < member->file->step_count; s++) {
            const struct profiler_step *step = &member->file->steps[s];
            result_integer(result, member->rank);
            result_integer(result, member->file->iterations[step->iteration]);
            result_real(result,
                        microseconds((wide_time)step->start - trace.origins[member->rank_index]));
            result_real(result, microseconds((wide_time)step->end - step->start));
            result_string(result, member->file->shown);
            result_integer(result, step->start);
            result_integer(result, step->end - step->start);
        }
    }
    *rows = result_finish(result);
    code = *rows ? SQLITE_OK : SQLITE_NOMEM;
cleanup:
    trace_close(&trace);
    return code;
}

const struct table_function trace_steps_function = {
    .name = "trace_steps",
    .text = "the profiler steps of a trace, a row each",
    .columns = columns_of_steps,
    .column_count = COUNT_OF(columns_of_steps),
    .arguments = trace_argument,
    .argument_count = COUNT_OF(trace_argument),
    .reads_files = true,
    .produce = steps_produce,
};
