/*
** compile_diff: differences in compilation between control and test, by function.
*/
#include "compile_changes.h"

static const struct table_column columns_of_compile_diff[] = {
    {"function", "TEXT", "function that is compiled; ? if not known"},
    {"file", "TEXT", "the last two components of its path"},
    {"what", "TEXT",
     "'limit', 'fails', 'new break', 'recompiles', 'cache lost', 'new', 'gone', 'compiles' (more "
     "often) or 'longer'"},
    {"control_count", "INTEGER", "compilations in control"},
    {"test_count", "INTEGER", "the same for test"},
    {"control_recompiles", "INTEGER",
     "compilations in control of frames that had been compiled before"},
    {"test_recompiles", "INTEGER", "the same for test"},
    {"control_ns", "INTEGER", "ns that the compilations in control take, including the backward"},
    {"test_ns", "INTEGER", "ns, the same for test"},
    {"diff_ns", "INTEGER", "ns, test minus control"},
    {"control_hits", "INTEGER", "compilations in control with a cache hit"},
    {"test_hits", "INTEGER", "the same for test"},
    {"control_misses", "INTEGER", "compilations in control with a cache miss"},
    {"test_misses", "INTEGER", "the same for test"},
    {"control_breaks", "INTEGER", "graph breaks in control"},
    {"test_breaks", "INTEGER", "the same for test"},
    {"new_breaks", "TEXT", "JSON array of breaks that only test has, with place and reason"},
    {"control_fails", "INTEGER", "compilations in control that failed"},
    {"test_fails", "INTEGER", "the same for test"},
    {"guard", "TEXT", "guard that failed first in test; NULL: none"},
    {"ranks", "TEXT", "JSON array of the ranks of test that compile it more often than the others"},
};

static const struct argument arguments_of_compile_diff[] = {
    {"control", TAKES_TRACE, true,
     "TORCH_TRACE logs (see compilations); in a directory that also has traces, the logs that "
     "belong to them"},
    {"test", TAKES_TRACE, true, "the same for test"},
};

static void write_breaks(struct writer *text, const struct compile_changes *changes,
                         const struct compile_change *change)
{
    uint32_t i = change->first_break;
    for (size_t written = 0; i != UINT32_MAX; i = changes->breaks[i].next) {
        const struct compile_new_break *found = &changes->breaks[i];
        const struct name *names = changes->names.items;
        struct writer both = {0};
        if (found->place != NAME_NONE) {
            write_string(&both, names[found->place].text);
            write_string(&both, ": ");
        }
        write_string(&both, found->reason == NAME_NONE ? "" : names[found->reason].text);
        write_string(text, written++ > 0 ? ", " : "[");
        write_string(text, "\"");
        for (size_t k = 0; k < both.length; k++) /* names contain no other control characters */
            if (both.bytes[k] == '"' || both.bytes[k] == '\\') {
                write_string(text, "\\");
                write_bytes(text, &both.bytes[k], 1);
            } else {
                write_bytes(text, (unsigned char)both.bytes[k] < ' ' ? " " : &both.bytes[k], 1);
            }
        write_string(text, "\"");
        text->failed = text->failed || both.failed;
        writer_clear(&both);
    }
    if (change->first_break != UINT32_MAX)
        write_string(text, "]");
}

static void add_change(struct result *result, const struct compile_changes *changes,
                       const struct compile_change *change)
{
    const struct compile_side *sides = change->sides;
    struct writer breaks = {0}, ranks = {0};
    const struct {
        int64_t values[2];
    } counts[] = {{{sides[0].count, sides[1].count}},
                  {{sides[0].recompiles, sides[1].recompiles}},
                  {{sides[0].ns, sides[1].ns}},
                  {{sides[0].hits, sides[1].hits}},
                  {{sides[0].misses, sides[1].misses}},
                  {{sides[0].breaks, sides[1].breaks}},
                  {{sides[0].fails, sides[1].fails}}};
    enum { OF_NS = 2, OF_BREAKS = 5 };
    result_name(result, &changes->names, change->function);
    result_name(result, &changes->names, change->file);
    result_string(result, compile_change_name(change->kind));
    for (int i = 0; i < COUNT_OF(counts); i++) {
        result_integer(result, counts[i].values[0]);
        result_integer(result, counts[i].values[1]);
        if (i == OF_NS)
            result_integer(result, counts[i].values[1] - counts[i].values[0]);
        if (i == OF_BREAKS) {
            write_breaks(&breaks, changes, change);
            result_log_written(result, &breaks);
        }
    }
    result_name(result, &changes->names, change->guard);
    write_string(&ranks, "[");
    for (size_t i = 0; i < change->rank_count; i++) {
        write_string(&ranks, i > 0 ? ", " : "");
        write_integer(&ranks, change->ranks[i]);
    }
    write_string(&ranks, "]");
    result_log_written(result, &ranks);
}

/* Reads the logs of a side, and matches them with its traces, if there are any. */
static bool read_side(struct call *call, int side, struct compile_join *join, bool *has_trace)
{
    const struct call_trace_request request = {
        .side = side, .whole = true, .use = TRACE_FOR_STEPS};
    struct call_trace opened;
    *has_trace = call_trace_open(call, &request, &opened);
    if (!*has_trace && (call->failure.code == FAILURE_MEMORY ||
                        call->failure.code == FAILURE_INTERRUPTED))
        return false;
    failure_clear(&call->failure);
    bool done = *has_trace ? compile_join_find(call, &opened, side, join)
                           : call_logs_read(call, side, &join->log);
    if (*has_trace)
        call_trace_close(&opened);
    for (size_t i = 0; done && i < join->log.process_count; i++) {
        const struct compile_process *process = &join->log.processes[i];
        if (process->problems[LOG_CUT_OFF] > 0 && (!*has_trace || join->used[i]))
            done = failure_set(&call->failure, FAILURE_DAMAGE, "'%s' is cut off",
                               join->log.files[process->file].path);
    }
    return done;
}

static int compile_diff_produce(struct call *call, struct rows **rows)
{
    struct compile_join joins[2] = {{.items = NULL}, {.items = NULL}};
    struct compile_changes changes = {.items = NULL};
    struct result *result = result_new(call->function->column_count);
    bool has_trace[2] = {false, false};
    connection_begin_work(call->connection);
    bool done = result;
    for (int side = 0; side < 2 && done; side++)
        done = read_side(call, side, &joins[side], &has_trace[side]);
    const struct compile_log *const logs[] = {&joins[0].log, &joins[1].log};
    const bool *const used[] = {has_trace[0] ? joins[0].used : NULL,
                                has_trace[1] ? joins[1].used : NULL};
    if (done &&
        compile_changes_find(&changes, logs, used, call_stopper(call), &call->failure))
        for (size_t i = 0; i < changes.count; i++)
            add_change(result, &changes, &changes.items[i]);
    compile_changes_clear(&changes);
    for (int side = 0; side < 2; side++)
        compile_join_clear(&joins[side]);
    connection_end_work(call->connection);
    return result_finish(result, call_code(call), rows);
}

const struct table_function compile_diff_function = {
    .name = "compile_diff",
    .family = FAMILY_COMPILER,
    .question = "What is compiled again, or no longer, since a change?",
    .text =
        "functions that test compiles differently from control, from TORCH_TRACE logs, one row per "
        "function",
    COLUMNS(columns_of_compile_diff),
    ARGUMENTS(arguments_of_compile_diff),
    .produce = compile_diff_produce,
};
