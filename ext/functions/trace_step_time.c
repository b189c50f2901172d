/*
** trace_step_time: where the time of each step went.
*/
#include "../analysis/attribute.h"
#include "../analysis/summary.h"
#include "../sqlite/arguments.h"
#include "../sqlite/registry.h"

SQLITE_EXTENSION_INIT3

#include "../reader/memory.h"

#define KEPT_STEPS ((size_t)16 << 20) /* bytes of the parts of steps, of one call */

enum {
    STEP_TIME_RANK,
    STEP_TIME_ITERATION,
    STEP_TIME_CLASS,
    STEP_TIME_NAME,
    STEP_TIME_TIME,
    STEP_TIME_TIME_NS
};

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

/* The trace as errors name it (`'run1' has no rank 7`): a statement may have two of them.
** NULL if out of memory. */
static char *subject_of(struct call *call)
{
    return sqlite3_mprintf("'%s'", (const char *)sqlite3_value_text(call->values[0]));
}

/* The steps of a call. Their parts are found as they are read: a step with its parts is
** kept for those who read it again as long as all of them take little room. */
struct step_rows {
    struct rows rows; /* must be first */
    struct database *database;
    struct trace trace;
    struct attribution *attribution;
    struct attributed_step *kept; /* by step; count 0: its parts are not kept */
    size_t room;                  /* bytes that may still be kept */
};

struct row_scan {
    struct step_rows *steps;
    size_t next; /* the next step */
    const struct attributed_step *step;
    struct attributed_step own; /* the step, if it is not kept */
    size_t part;                /* the next of its parts */
    int64_t number;             /* of the next row */
};

/* Finds the parts of the next step. */
static int go_on(struct row_scan *scan, struct failure *failure)
{
    struct step_rows *steps = scan->steps;
    struct attributed_step *kept = &steps->kept[scan->next];
    scan->part = 0;
    scan->step = kept;
    if (kept->count == 0) {
        database_begin_work(steps->database);
        bool found = attribution_step(steps->attribution, scan->next, &scan->own, failure);
        database_end_work(steps->database);
        if (!found)
            return SQLITE_ERROR;
        size_t size = scan->own.capacity * sizeof *scan->own.rows;
        scan->step = &scan->own;
        if (size <= steps->room) {
            *kept = scan->own;
            scan->own = (struct attributed_step){.count = 0};
            scan->step = kept;
            steps->room -= size;
            steps->rows.memory += size;
        }
    }
    scan->next++;
    return SQLITE_OK;
}

static int step_time_begin(struct rows *rows, const struct wish *wish, struct row_scan **scan,
                           struct failure *failure)
{
    (void)wish;
    (void)failure;
    if (!*scan && !(*scan = memory_zeroed(1, sizeof **scan)))
        return SQLITE_NOMEM;
    **scan = (struct row_scan){.steps = (struct step_rows *)rows, .own = (*scan)->own};
    return SQLITE_OK;
}

static int step_time_next(struct row_scan *scan, struct position *position, bool *end,
                          struct failure *failure)
{
    *end = false;
    while (!scan->step || scan->part == scan->step->count) {
        *end = scan->next == attribution_count(scan->steps->attribution);
        int code = *end ? SQLITE_OK : go_on(scan, failure);
        if (*end || code != SQLITE_OK)
            return code;
    }
    *position = (struct position){scan->number++, scan->next - 1, (int64_t)scan->part++};
    return SQLITE_OK;
}

static void step_time_end(struct row_scan *scan)
{
    memory_free(scan->own.rows);
    memory_free(scan);
}

static int step_time_column(struct rows *rows, struct row_scan *scan,
                            const struct position *position, int column, sqlite3_context *context,
                            struct failure *failure)
{
    const struct step_rows *steps = (const struct step_rows *)rows;
    const struct attributed *part = &scan->step->rows[position->part_row];
    (void)failure;
    switch (column) {
    case STEP_TIME_RANK:
        sqlite3_result_int64(context, scan->step->rank);
        break;
    case STEP_TIME_ITERATION:
        if (scan->step->iteration != NUMBER_NONE)
            sqlite3_result_int64(context, scan->step->iteration);
        break;
    case STEP_TIME_CLASS:
        if (part->step_class != CLASS_NONE)
            sqlite3_result_text(context, step_class_name(part->step_class), -1, SQLITE_STATIC);
        break;
    case STEP_TIME_NAME:
        if (part->name != NAME_NONE) {
            const struct name *name = &attribution_names(steps->attribution)->items[part->name];
            sqlite3_result_text64(context, name->text, name->length, SQLITE_TRANSIENT, SQLITE_UTF8);
        }
        break;
    case STEP_TIME_TIME:
        sqlite3_result_double(context, microseconds(part->time));
        break;
    case STEP_TIME_TIME_NS:
        sqlite3_result_int64(context, (int64_t)part->time);
        break;
    }
    return SQLITE_OK;
}

static void step_time_destroy(struct rows *rows)
{
    struct step_rows *steps = (struct step_rows *)rows;
    size_t count = steps->attribution ? attribution_count(steps->attribution) : 0;
    for (size_t i = 0; steps->kept && i < count; i++)
        memory_free(steps->kept[i].rows);
    memory_free(steps->kept);
    attribution_free(steps->attribution);
    trace_close(&steps->trace);
    memory_free(steps);
}

static const struct rows_methods step_time_methods = {
    step_time_begin, step_time_next, step_time_end, step_time_column, step_time_destroy};

/* Reads the trace and finds the steps. */
static bool find_steps(struct call *call, struct step_rows *steps)
{
    static const char *const levels[] = {[LEVEL_OP] = "op",
                                         [LEVEL_TOP_OP] = "top_op",
                                         [LEVEL_MODULE] = "module",
                                         [LEVEL_ANNOTATION] = "annotation",
                                         [LEVEL_KERNEL] = "kernel"};
    static const char *const clocks[] = {[CLOCK_DEVICE] = "device", [CLOCK_HOST] = "host"};
    struct trace_paths paths = {NULL, 0, 0};
    struct trace *trace = &steps->trace;
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
    done = done && trace_open(trace, &paths, cache, &request, &call->failure) &&
           trace_choose_steps(trace, &iterations, subject, &choice, &call->failure);
    if (done)
        steps->attribution =
            attribution_new(trace, &choice, (enum label_level)level, (enum step_clock)clock,
                            &cache->stopper, &call->failure);
    step_choice_clear(trace, &choice);
    paths_clear(&paths);
    selection_clear(&ranks);
    selection_clear(&iterations);
    sqlite3_free(subject);
    return steps->attribution != NULL;
}

static int step_time_produce(struct call *call, struct rows **rows)
{
    struct step_rows *steps = memory_zeroed(1, sizeof *steps);
    if (!steps)
        return SQLITE_NOMEM;
    steps->rows.methods = &step_time_methods;
    steps->database = call->database;
    steps->room = KEPT_STEPS;
    bool found = find_steps(call, steps);
    if (found)
        steps->kept = memory_zeroed(attribution_count(steps->attribution), sizeof *steps->kept);
    if (!steps->kept) {
        step_time_destroy(&steps->rows);
        return found ? SQLITE_NOMEM : SQLITE_ERROR;
    }
    for (size_t i = 0; i < steps->trace.count; i++)
        if (steps->trace.members[i].chosen)
            steps->rows.memory += file_memory(steps->trace.members[i].file);
    *rows = &steps->rows;
    return SQLITE_OK;
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
