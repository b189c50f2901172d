/*
** trace_step_time: where the time of each step went.
*/
#include "../trace/attribute.h"
#include "../trace/summary.h"
#include "arguments.h"
#include "functions.h"

SQLITE_EXTENSION_INIT3

static const struct column columns_of_step_time[] = {
    {"rank", "INTEGER", "rank"},
    {"iteration", "INTEGER", "number of the ProfilerStep; NULL in a file without steps"},
    {"class", "TEXT",
     "compute, comm, memory: the device works; idle_host, idle_call, idle_unrecorded: the host has "
     "not launched what comes next; idle_launch: it does; idle_wait: it has; without device work "
     "host, call, unrecorded; NULL for a step of no length"},
    {"name", "TEXT", "what it did, by level; NULL if nothing is recorded"},
    {"time", "REAL", "us"},
    {"time_ns", "INTEGER", "ns"},
};

static const struct argument arguments_of_step_time[] = {
    {"trace", "TEXT", true, "directory, file, pattern or JSON array of these"},
    {"ranks", "", false, "integer, JSON array or 'all'; default the lowest"},
    {"iterations", "", false, "integer, JSON array, 'all' or 'steady'; default 'steady'"},
    {"level", "TEXT", false,
     "what names are: 'op', 'top_op', 'module', 'annotation' or 'kernel'; default 'op'"},
    {"clock", "TEXT", false, "whose steps: 'device' or 'host'; default 'device'"},
};

/* What stands before `has no rank 7`: a caller may have two traces. NULL when there is
** no memory. */
static char *subject_of(struct call *call)
{
    return sqlite3_mprintf("'%s'", (const char *)sqlite3_value_text(call->values[0]));
}

/* Reads the trace and attributes it. */
static bool attribute(struct call *call, struct attribution *attribution)
{
    static const char *const levels[] = {[LEVEL_OP] = "op",
                                         [LEVEL_TOP_OP] = "top_op",
                                         [LEVEL_MODULE] = "module",
                                         [LEVEL_ANNOTATION] = "annotation",
                                         [LEVEL_KERNEL] = "kernel"};
    static const char *const clocks[] = {[CLOCK_DEVICE] = "device", [CLOCK_HOST] = "host"};
    struct trace_paths paths = {NULL, 0, 0};
    struct trace trace = {.count = 0};
    struct selection ranks = {.kind = SELECT_DEFAULT}, iterations = {.kind = SELECT_DEFAULT};
    struct step_choice choice = {.everything = false};
    struct cache *cache = &call->database->cache;
    int level, clock;
    char *subject = NULL;
    bool done = argument_word(call, 3, levels, COUNT_OF(levels),
                              "'op', 'top_op', 'module', 'annotation' or 'kernel'", &level) &&
                argument_word(call, 4, clocks, COUNT_OF(clocks), "'device' or 'host'", &clock) &&
                argument_selection(call, 1, false, &ranks) &&
                argument_selection(call, 2, true, &iterations) && argument_trace(call, 0, &paths);
    if (done && !(subject = subject_of(call)))
        done = failure_memory(&call->failure);
    if (iterations.kind == SELECT_DEFAULT)
        iterations.kind = SELECT_STEADY;
    struct trace_request request = {TRACE_FOR_DIFF, NULL, &ranks, subject};
    done = done && trace_open(&trace, &paths, cache, &request, &call->failure) &&
           trace_choose_steps(&trace, &iterations, subject, &choice, &call->failure) &&
           attribution_make(attribution, &trace, &choice, (enum label_level)level,
                            (enum step_clock)clock, &cache->stopper, &call->failure);
    step_choice_clear(&trace, &choice);
    trace_close(&trace);
    paths_clear(&paths);
    selection_clear(&ranks);
    selection_clear(&iterations);
    sqlite3_free(subject);
    return done;
}

static void add_row(struct result *result, const struct names *names, const struct attributed *row)
{
    result_integer(result, row->rank);
    if (row->iteration == NUMBER_NONE)
        result_null(result);
    else
        result_integer(result, row->iteration);
    result_string(result, step_class_name(row->step_class));
    if (row->name == NAME_NONE)
        result_null(result);
    else
        result_text(result, names->items[row->name].text, names->items[row->name].length);
    result_real(result, microseconds(row->time));
    result_integer(result, (int64_t)row->time);
}

static int step_time_produce(struct call *call, struct rows **rows)
{
    const struct stopper *stopper = &call->database->cache.stopper;
    struct attribution attribution = {.count = 0};
    struct result *result = NULL;
    int code = SQLITE_ERROR;
    if (!attribute(call, &attribution))
        goto cleanup;
    result = result_new(call->function->column_count);
    for (size_t i = 0; i < attribution.count; i++) {
        if (!stopper_goes_on(stopper, i, &call->failure))
            goto cleanup;
        add_row(result, &attribution.names, &attribution.rows[i]);
    }
    *rows = result_finish(result);
    result = NULL;
    code = *rows ? SQLITE_OK : SQLITE_NOMEM;
cleanup:
    result_free(result);
    attribution_clear(&attribution);
    return code;
}

const struct table_function trace_step_time_function = {
    .name = "trace_step_time",
    .text = "where the time of each step went, in parts that add up to its length",
    .columns = columns_of_step_time,
    .column_count = COUNT_OF(columns_of_step_time),
    .arguments = arguments_of_step_time,
    .argument_count = COUNT_OF(arguments_of_step_time),
    .reads_files = true,
    .produce = step_time_produce,
};
