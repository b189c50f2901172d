/*
** critical_path: the chain of activities that determines the length of each step.
*/
#include "analysis/path/path_walk.h"
#include "base/memory.h"
#include "functions/call/call_trace.h"
#include "functions/call/step_parts.h"
#include "functions/call/step_rows.h"
#include "functions/args/sync_args.h"

#define KEPT_PATHS ((size_t)16 << 20) /* bytes: most memory for the kept parts of a call */

enum {
    CRITICAL_RANK,
    CRITICAL_ITERATION,
    CRITICAL_SEQ,
    CRITICAL_KIND,
    CRITICAL_NAME,
    CRITICAL_TS,
    CRITICAL_DUR,
    CRITICAL_FILE,
    CRITICAL_EVENT,
    CRITICAL_TS_NS,
    CRITICAL_DUR_NS,
    CRITICAL_SLACK,
    CRITICAL_SLACK_NS
};

static const struct table_column columns_of_path[] = {
    {"rank", "INTEGER", "rank"},
    {"iteration", "INTEGER", "number of the step; NULL in a file without steps"},
    {"seq", "INTEGER", "0, 1, ... within the step, by time; NULL: off the path"},
    {"kind", "TEXT",
     "host: a thread works; launch: it launches device work; queue: launched work has not started; "
     "kernel: device work runs; sync: the host waits for the device; wait: a thread waits for "
     "another thread; NULL: a step of no length"},
    {"name", "TEXT",
     "name of the event; for queue, of the device work; NULL: nothing was recorded"},
    {"ts", "REAL", "us from the earliest event of the rank"},
    {"dur", "REAL", "us"},
    {"file", "TEXT", "path"},
    {"event", "INTEGER", "position in the file's traceEvents"},
    {"ts_ns", "INTEGER", "ns, absolute"},
    {"dur_ns", "INTEGER", "ns"},
    {"slack", "REAL",
     "us by which the event could take longer before the step does; 0 on the path; NULL: the end "
     "of the step does not depend on it"},
    {"slack_ns", "INTEGER", "ns, the same"},
};

enum { CRITICAL_CLOCK = 3, CRITICAL_OFF };

static const struct argument arguments_of_path[] = {
    {TRACE_ARGUMENT},
    {RANKS_ARGUMENT},
    {"iterations", TAKES_ITERATIONS, false, STEADY_STEPS_TEXT},
    {STEP_CLOCK_ARGUMENT},
    {"off_path", TAKES_FLAG, false,
     "1: after each path, list the work off the path with its slack; default 0"},
    {STEPS_ARGUMENT},
};

/* The steps of a call. */
struct path_rows {
    struct step_rows base; /* must be first */
    struct call_trace opened;
    struct path_syncs *syncs; /* by member */
    struct critical_path *path;
};

struct found_path {
    struct found_step base; /* must be first */
    struct path_step step;
};

/* Finds the path of a step. A path without parts has one row. */
static bool find_path(struct step_rows *rows, size_t i, struct found_step **step,
                      struct failure *failure)
{
    const struct path_rows *paths = (const struct path_rows *)rows;
    if (!*step && !(*step = memory_zeroed(1, sizeof(struct found_path))))
        return failure_memory(failure);
    struct found_path *found = (struct found_path *)*step;
    bool done = critical_path_step(paths->path, i, &found->step, failure);
    const struct path_step *of = &found->step;
    found->base.rows = of->count > 0 ? of->count + of->off_count : 1;
    found->base.memory = of->capacity * sizeof *of->parts + of->off_capacity * sizeof *of->off;
    return done;
}

static void free_path(struct found_step *step)
{
    struct found_path *found = (struct found_path *)step;
    memory_free(found->step.parts);
    memory_free(found->step.off);
    memory_free(found);
}

static void name_column(const struct trace_file *file, uint32_t row, sqlite3_context *context)
{
    const struct name *name = &file->names.items[file->columns.name[row]];
    sqlite3_result_text64(context, name->text, name->length, SQLITE_TRANSIENT, SQLITE_UTF8);
}

/* Returns a column of a path without parts (P1). */
static void empty_column(int column, sqlite3_context *context)
{
    if (column == CRITICAL_SEQ || column == CRITICAL_DUR_NS || column == CRITICAL_SLACK_NS)
        sqlite3_result_int64(context, 0);
    else if (column == CRITICAL_DUR || column == CRITICAL_SLACK)
        sqlite3_result_double(context, 0);
}

static void part_column(const struct trace_file *file, int64_t origin, const struct path_part *part,
                        int column, sqlite3_context *context)
{
    static const char *const kinds[] = {"host", "launch", "queue", "kernel", "sync", "wait"};
    if (column == CRITICAL_KIND)
        sqlite3_result_text(context, kinds[part->kind], -1, SQLITE_STATIC);
    else if (column == CRITICAL_NAME && part->row != ROW_NONE)
        name_column(file, part->row, context);
    else if (column == CRITICAL_TS)
        sqlite3_result_double(context, microseconds((wide_time)part->start - origin));
    else if (column == CRITICAL_DUR)
        sqlite3_result_double(context, microseconds(part->end - part->start));
    else if (column == CRITICAL_EVENT && part->row != ROW_NONE)
        sqlite3_result_int64(context, file->columns.event[part->row]);
    else if (column == CRITICAL_TS_NS)
        sqlite3_result_int64(context, part->start);
    else if (column == CRITICAL_DUR_NS)
        sqlite3_result_int64(context, part->end - part->start);
}

static void slack_column(int64_t slack, int column, sqlite3_context *context)
{
    if (slack != SLACK_NONE && column == CRITICAL_SLACK)
        sqlite3_result_double(context, microseconds(slack));
    else if (slack != SLACK_NONE)
        sqlite3_result_int64(context, slack);
}

static int path_column(struct rows *rows, struct row_scan *scan, const struct position *position,
                       int column, sqlite3_context *context, struct failure *failure)
{
    const struct path_rows *paths = (const struct path_rows *)rows;
    const struct found_step *found = ((const struct step_scan *)scan)->step;
    const struct path_step *step = &((const struct found_path *)found)->step;
    const struct trace *trace = &paths->opened.trace;
    const struct trace_member *member = &trace->members[step->member];
    size_t part = (size_t)position->part_row;
    const struct path_off *off =
        step->count > 0 && part >= step->count ? &step->off[part - step->count] : NULL;
    (void)failure;
    if (column == CRITICAL_RANK)
        sqlite3_result_int64(context, step->rank);
    else if (column == CRITICAL_ITERATION && step->iteration != NUMBER_NONE)
        sqlite3_result_int64(context, step->iteration);
    else if (column == CRITICAL_FILE)
        sqlite3_result_text(context, member->file->shown, -1, SQLITE_TRANSIENT);
    else if (step->count == 0)
        empty_column(column, context);
    else if (column == CRITICAL_SLACK || column == CRITICAL_SLACK_NS)
        slack_column(off ? off->slack : 0, column, context);
    else if (column != CRITICAL_SEQ)
        part_column(member->file, trace->origins[member->rank_index],
                    off ? &off->part : &step->parts[part], column, context);
    else if (!off)
        sqlite3_result_int64(context, position->part_row);
    return SQLITE_OK;
}

static void path_destroy(struct rows *rows)
{
    struct path_rows *paths = (struct path_rows *)rows;
    step_rows_clear(&paths->base);
    critical_path_free(paths->path);
    memory_free(paths->syncs);
    call_trace_close(&paths->opened);
    memory_free(paths);
}

static const struct rows_methods path_methods = {
    .begin = step_rows_begin,
    .next = step_rows_next,
    .end = step_rows_end,
    .column = path_column,
    .destroy = path_destroy,
};

static bool find_paths(struct call *call, struct path_rows *paths)
{
    static const char *const clocks[] = {[CLOCK_DEVICE] = "device", [CLOCK_HOST] = "host"};
    static const struct call_trace_request request = {.use = TRACE_FOR_DIFF, .quoted = true};
    const struct trace *trace = &paths->opened.trace;
    int clock;
    double off = 0;
    if (!argument_real(call, CRITICAL_OFF, &off) ||
        !argument_word(call, CRITICAL_CLOCK, clocks, COUNT_OF(clocks), &clock) ||
        !call_trace_open(call, &request, &paths->opened))
        return false;
    paths->syncs = sync_args_read(call, trace);
    bool done = paths->syncs != NULL;
    if (done)
        paths->path =
            critical_path_new(trace, &paths->opened.steps, (enum step_clock)clock, off > 0,
                              paths->syncs, call_stopper(call), &call->failure);
    return paths->path &&
           (step_rows_make(&paths->base, critical_path_count(paths->path), KEPT_PATHS) ||
            failure_memory(&call->failure));
}

static int path_produce(struct call *call, struct rows **rows)
{
    struct path_rows *paths = memory_zeroed(1, sizeof *paths);
    if (!paths)
        return SQLITE_NOMEM;
    paths->base = (struct step_rows){.rows = {.methods = &path_methods},
                                     .connection = call->connection,
                                     .find = find_path,
                                     .free = free_path};
    if (!find_paths(call, paths)) {
        path_destroy(&paths->base.rows);
        return SQLITE_ERROR;
    }
    paths->base.rows.memory = call_trace_memory(&paths->opened);
    *rows = &paths->base.rows;
    return SQLITE_OK;
}

const struct table_function critical_path_function = {
    .name = "critical_path",
    .family = FAMILY_CRITICAL_PATH,
    .question = "What is the critical path of each step, its longest chain?",
    .text =
        "what each step waited for, from its start to its end: host, launches, queues and kernels",
    COLUMNS(columns_of_path),
    ARGUMENTS(arguments_of_path),
    .produce = path_produce,
};
