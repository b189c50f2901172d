/*
** trace_work_diff: operators and kernels that run more or less often in another trace.
*/
#include "analysis/sums/run_changes.h"
#include "naming/label.h"
#include "chart/writer.h"
#include "base/memory.h"
#include "functions/call/call_trace.h"

static const struct table_column columns_of_work_diff[] = {
    {"name", "TEXT", "stable name of the operator or the kernel"},
    {"kind", "TEXT", "'operator' or 'kernel'"},
    {"control_counts", "REAL", "executions a step in control, the median over the steps"},
    {"test_counts", "REAL", "the same in test"},
    {"control_low", "INTEGER", "the fewest executions in a step of control"},
    {"control_high", "INTEGER", "the most executions in a step of control"},
    {"test_low", "INTEGER", "the fewest executions in a step of test"},
    {"test_high", "INTEGER", "the most executions in a step of test"},
    {"median_duration", "REAL", "us, of the executions of both sides"},
    {"size", "REAL",
     "us a step: the difference of the counts, without its sign, times median_duration"},
    {"text", "TEXT", "the change in words, with the name as trace_label gives it"},
};

static const struct argument arguments_of_work_diff[] = {
    {CONTROL_ARGUMENT},
    {TEST_ARGUMENT},
    SELECTIONS_OF_STEPS,
    {STEPS_ARGUMENT},
};

/* The first chosen file of a trace; NULL: there is none. */
static const struct trace_file *first_file(const struct call_trace *opened)
{
    size_t i = 0;
    while (i < opened->trace.count && !opened->trace.members[i].chosen)
        i++;
    return i < opened->trace.count ? opened->trace.members[i].file : NULL;
}

/* Whether both sides name the same device, or neither names one (L5.2). It is not known of a side
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

static bool has_steps(const struct call_trace *opened)
{
    for (size_t i = 0; i < opened->trace.count; i++)
        if (opened->trace.members[i].chosen && opened->trace.members[i].steps->count > 0)
            return true;
    return false;
}

/* `X 9 -> 18 a step`, `X new, 97 a step`, `X gone, 4 a step`. `room` is for a label. */
static void write_change_of_runs(struct writer *text, const struct name *name,
                                 const struct run_change *change, bool in_steps, char *room)
{
    size_t length = label_write(name->text, name->length, room + name->length + LABEL_ROOM, room);
    write_bytes(text, room, length);
    if (change->high[0] == 0) {
        write_string(text, " new, ");
    } else if (change->high[1] == 0) {
        write_string(text, " gone, ");
        write_number(text, change->counts[0]);
    } else {
        write_string(text, " ");
        write_number(text, change->counts[0]);
        write_string(text, " -> ");
    }
    if (change->high[1] > 0)
        write_number(text, change->counts[1]);
    write_string(text, in_steps ? " a step" : " a trace");
}

static void add_row(struct result *result, struct writer *text, const struct run_changes *changes,
                    const struct run_change *change)
{
    result_name(result, &changes->names, change->name);
    result_string(result, change->is_kernel ? "kernel" : "operator");
    for (int side = 0; side < 2; side++)
        result_real(result, change->counts[side]);
    for (int side = 0; side < 2; side++) {
        result_integer(result, change->low[side]);
        result_integer(result, change->high[side]);
    }
    result_real(result, change->duration / 1000);
    result_real(result, change->size / 1000);
    if (text->failed)
        result_lost(result);
    result_text(result, text->bytes, text->length);
    text->length = 0;
}

static int work_diff_produce(struct call *call, struct rows **rows)
{
    struct call_trace opened[2] = {{.trace = {.count = 0}}, {.trace = {.count = 0}}};
    struct run_changes changes = {.count = 0};
    struct result *result = result_new(call->function->column_count);
    struct writer text = {0};
    char *room = NULL;
    bool same, done = call_sides_open(call, opened);
    const struct run_side sides[2] = {{&opened[0].trace, &opened[0].steps},
                                      {&opened[1].trace, &opened[1].steps}};
    done = done && same_device(call, opened, &same) &&
           run_changes_find(&changes, sides, same, call_stopper(call), &call->failure);
    if (done) {
        room = memory_allocate(2 * (names_longest(&changes.names) + LABEL_ROOM));
        done = room || failure_memory(&call->failure);
    }
    for (size_t i = 0; done && i < changes.count; i++) {
        const struct run_change *change = &changes.items[i];
        write_change_of_runs(&text, &changes.names.items[change->name], change,
                             has_steps(&opened[0]) || has_steps(&opened[1]), room);
        add_row(result, &text, &changes, change);
    }
    memory_free(room);
    writer_clear(&text);
    run_changes_clear(&changes);
    for (int i = 0; i < 2; i++)
        call_trace_close(&opened[i]);
    return result_finish(result, call_code(call), rows);
}

const struct table_function trace_work_diff_function = {
    .name = "trace_work_diff",
    .family = FAMILY_OPERATORS_AND_KERNELS,
    .question = "Which operators or kernels run more or less often a step?",
    .text = "operators and kernels that run more or less often in another trace",
    COLUMNS(columns_of_work_diff),
    ARGUMENTS(arguments_of_work_diff),
    .produce = work_diff_produce,
};
