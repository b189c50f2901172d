/*
** trace_files: the files of a trace, with their problems.
*/
#include <string.h>

#include "analysis/health/findings.h"
#include "chart/writer.h"
#include "functions/call/call_trace.h"
#include "sqlite/json_array.h"
#include "trace/file_ranks.h"

static const struct table_column columns_of_files[] = {
    {"file", "TEXT", "path"},
    {"rank", "INTEGER", "rank; NULL for a copy, and for a file that is not a trace"},
    {"rank_source", "TEXT",
     "where the rank comes from: distributedInfo, database, name, replica, process or order; "
     "'copy': the file is left out because other files have its events"},
    {"world_size", "INTEGER", "distributedInfo.world_size; NULL if not recorded"},
    {"backend", "TEXT", "distributedInfo.backend; NULL if not recorded"},
    {"device", "TEXT", "name of the first device; NULL if not recorded"},
    {"steps", "INTEGER", "number of distinct steps"},
    {"first_step", "INTEGER", "lowest step; NULL without steps"},
    {"last_step", "INTEGER", "highest step; NULL without steps"},
    {"events", "INTEGER", "elements of traceEvents; in a database, rows of the tables of events"},
    {"rows", "INTEGER", "events that are rows of trace_events"},
    {"skipped", "INTEGER", "events that were skipped"},
    {"problems", "TEXT", "JSON array of {what, count, first_byte}; bytes are counted from 1"},
    {"start_unix_ns", "INTEGER", "ns since 1970; NULL without baseTimeNanoseconds"},
    {"start_ns", "INTEGER", "ns, absolute start of the earliest event"},
    {"end_ns", "INTEGER", "ns, absolute end of the latest event"},
    {"size", "INTEGER", "bytes on disk"},
    {"json_size", "INTEGER", "bytes of JSON after decompression; NULL for a database"},
    {"label", "TEXT", "in a file of several ranks, the common start of this rank's pids"},
    {"tp", "INTEGER",
     "tensor-parallel index: number after `tp` in the label or the file name; NULL: none"},
    {"pp", "INTEGER", "pipeline-parallel index: the same after `pp`"},
    {"dp", "INTEGER", "data-parallel index: the same after `dp`"},
    {"ep", "INTEGER", "expert-parallel index: the same after `ep`"},
};

static const struct argument arguments_of_files[] = {{TRACE_ARGUMENT}};

/* Adds an element to the JSON array of problems. `first_byte` 0: no position; `ns` -1: no time. */
static void write_problem(struct writer *list, const char *what, int64_t count, int64_t first_byte,
                          int64_t ns)
{
    write_string(list, list->length > 1 ? ",{\"what\":" : "{\"what\":");
    write_json_string(list, what);
    write_string(list, ",\"count\":");
    write_integer(list, count);
    write_string(list, ",\"first_byte\":");
    if (first_byte > 0)
        write_integer(list, first_byte);
    else
        write_string(list, "null");
    if (ns >= 0) {
        char us[32];
        sqlite3_snprintf(sizeof us, us, ",\"us\":%lld.%03lld", ns / 1000, ns % 1000);
        write_string(list, us);
    }
    write_string(list, "}");
}

/* Adds the findings of trace_health. */
static bool write_findings(struct call *call, struct writer *list,
                           const struct trace_member *member)
{
    struct health health = {.count = 0};
    bool done = !member->chosen ||
                health_find(&health, member, NULL, call_stopper(call), &call->failure);
    for (size_t i = 0; i < health.count; i++)
        write_problem(list, health_check_name(health.items[i].check), health.items[i].count, 0, -1);
    return done;
}

/* Writes all problems of a file. `strict`: SQLite's JSON functions accept the metadata. `again`:
** how many more times the file was given. False on failure. */
static bool write_problems(struct call *call, struct writer *list,
                           const struct trace_member *member, bool strict, size_t again)
{
    const struct trace_file *file = member->file;
    const struct failure *trouble = file ? &file->trouble : &member->failure;
    write_string(list, "[");
    if (trouble->code != FAILURE_NONE) {
        const char *text = trouble->what ? trouble->what : trouble->text;
        write_problem(list, text ? text : "out of memory", 1, trouble->byte, -1);
    }
    for (enum problem i = 0; file && i < PROBLEM_COUNT; i++)
        if (file->problems.count[i] > 0)
            write_problem(list, problem_text(i), file->problems.count[i],
                          file->problems.first_byte[i],
                          i == PROBLEM_BACKLOG     ? file->backlog
                          : i == PROBLEM_NO_LAUNCH ? file->unlaunched
                                                   : -1);
    if (file && file->metadata && !strict)
        write_problem(list, "metadata left out: not strict JSON, or nested too deep", 1, 0, -1);
    if (again > 0)
        write_problem(list, "file given more than once: read once", (int64_t)again, 0, -1);
    bool done = write_findings(call, list, member);
    write_string(list, "]");
    return done;
}

/* Finds the lowest and highest step number of a member. Returns the number of steps. */
static int64_t step_range(const struct trace_member *member, int64_t *first, int64_t *last)
{
    int64_t count = 0;
    for (uint32_t i = 0; member->chosen && i < member->steps->iteration_count; i++) {
        if (member->steps->first[i] == ROW_NONE)
            continue;
        if (count++ == 0)
            *first = member_iteration(member, i);
        *last = member_iteration(member, i);
    }
    return count;
}

/* Reads the metadata, bound to ?1; an error or no row if it is not strict JSON (json_array.h). */
static const char summary_sql[] =
    "SELECT m ->> '$.distributedInfo.world_size', m ->> '$.distributedInfo.backend',"
    " m ->> '$.deviceProperties[0].name'"
    " FROM (SELECT ?1 AS m) WHERE json_type(m) IS NOT NULL AND (?2 OR json_valid(m))";

static void add_file_row(struct call *call, struct result *result, const struct call_trace *opened,
                         size_t i)
{
    static const char *const sources[] = {"distributedInfo", "database", "name",
                                          "replica", "process", "order"};
    static const struct trace_file nothing = {.first = NUMBER_NONE, .last = NUMBER_NONE};
    const struct trace_member *member = &opened->trace.members[i];
    const struct trace_file *file = member->file ? member->file : &nothing;
    int64_t first = NUMBER_NONE, last = NUMBER_NONE, steps = step_range(member, &first, &last);
    const char *label = file->labels ? file_label(file, member->part) : NULL;
    const struct coordinates at = member_coordinates(member);
    struct writer problems = {0};
    sqlite3_stmt *metadata = NULL;
    int code = sqlite3_prepare_v2(call->connection->db, summary_sql, -1, &metadata, NULL);
    if (!call_check(call, code, ""))
        return;
    sqlite3_bind_int(metadata, 2, json_type_is_strict());
    sqlite3_bind_text(metadata, 1, file->metadata, (int)file->metadata_length, SQLITE_STATIC);
    code = sqlite3_step(metadata);
    bool strict = code == SQLITE_ROW;
    if (write_problems(call, &problems, member, strict, member->again) && problems.failed)
        result_lost(result);
    result_repaired(result, member->path, strlen(member->path));
    result_number(result, member->is_trace ? member->rank : NUMBER_NONE);
    result_string(result, member->is_trace            ? sources[member->rank_source]
                          : member->copy != COPY_NONE ? "copy"
                                                      : NULL);
    for (int column = 0; column < 3; column++)
        if (strict)
            result_value(result, sqlite3_column_value(metadata, column), true);
        else
            result_null(result);
    result_integer(result, steps);
    result_number(result, first);
    result_number(result, last);
    result_integer(result, file->events);
    result_integer(result, (int64_t)file->columns.count);
    result_integer(result, file->skipped);
    result_text(result, problems.bytes, problems.length);
    result_number(result, file->has_base ? file->first : NUMBER_NONE);
    result_number(result, file->first);
    result_number(result, file->last);
    result_number(result, member->file ? file->identity.size : NUMBER_NONE);
    result_number(result, member->file ? file->json_size : NUMBER_NONE);
    if (label)
        result_repaired(result, label, strlen(label));
    else
        result_null(result);
    for (int kind = 0; kind < COORDINATES; kind++)
        result_number(result, at.of[kind].number < 0 ? NUMBER_NONE : at.of[kind].number);
    writer_clear(&problems);
    /* other errors mean that the metadata is malformed, too deep or too long for SQLite's JSON */
    if (code == SQLITE_NOMEM || code == SQLITE_INTERRUPT)
        call_check(call, code, "");
    sqlite3_finalize(metadata);
}

static int files_produce(struct call *call, struct rows **rows)
{
    static const struct call_trace_request request = {.use = TRACE_FOR_FILES};
    return call_trace_rows(call, &request, rows, add_file_row);
}

const struct table_function trace_files_function = {
    .name = "trace_files",
    .family = FAMILY_EVENTS_AND_FILES,
    .question = "Which files, ranks and steps are there? Is any damaged?",
    .text = "the files of a trace, including bad ones, one row per file and rank",
    COLUMNS(columns_of_files),
    ARGUMENTS(arguments_of_files),
    .produce = files_produce,
};
