/*
** critical_path: what each step waited for, from its start to its end.
*/
#include "analysis/path/path_walk.h"
#include "base/memory.h"
#include "text/number.h"
#include "functions/call/call_trace.h"
#include "functions/call/shapes.h"
#include "functions/call/step_parts.h"

#define KEPT_PATHS ((size_t)16 << 20) /* bytes of parts that one call may keep */

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
    {"seq", "INTEGER", "0, 1, ... in the step, by time; NULL: off the path"},
    {"kind", "TEXT",
     "host: a thread works; launch: it launches device work; queue: device work was launched and "
     "has "
     "not started; kernel: it runs; sync: the host has waited for it; wait: a thread has waited "
     "for "
     "another; "
     "NULL: a step of no length"},
    {"name", "TEXT",
     "name of the event; of queue that of the device work; NULL: nothing is recorded"},
    {"ts", "REAL", "us from the earliest event of the rank"},
    {"dur", "REAL", "us"},
    {"file", "TEXT", "path"},
    {"event", "INTEGER", "position in the file's traceEvents"},
    {"ts_ns", "INTEGER", "ns, absolute"},
    {"dur_ns", "INTEGER", "ns"},
    {"slack", "REAL",
     "us it could take longer before the step does; on the path 0; NULL: the end of the step does "
     "not depend on it"},
    {"slack_ns", "INTEGER", "ns"},
};

enum { CRITICAL_TRACE, CRITICAL_RANKS, CRITICAL_ITERATIONS, CRITICAL_CLOCK, CRITICAL_OFF, CRITICAL_STEPS };

static const struct argument arguments_of_path[] = {
    {TRACE_ARGUMENT},
    {RANKS_ARGUMENT},
    {"iterations", "", false, STEADY_STEPS_TEXT},
    {STEP_CLOCK_ARGUMENT},
    {"off_path", "0|1", false,
     "1: after each path, the work off it, with its slack; default 0"},
    {STEPS_ARGUMENT},
};

/* The number that args have for a key, by row; `wanted` rows only. */
static bool read_numbers(struct call *call, struct trace_file *file, const char *key,
                         const bool *wanted, uint32_t *values, struct names *texts)
{
    for (size_t row = 0; row < file->columns.count; row++)
        values[row] = wanted[row] ? 0 : NAME_NONE;
    return arg_read(call, file, key, values, texts);
}

static int64_t number_of(const struct names *texts, uint32_t id)
{
    int64_t number;
    const struct name *text = id == NAME_NONE ? NULL : &texts->items[id];
    return text && number_integer((const unsigned char *)text->text, text->length, &number) &&
                   number >= 0 && number < UINT32_MAX
               ? number
               : NUMBER_NONE;
}

/* Reads what sync events of a file say (P6.1). */
static bool read_syncs(struct call *call, struct trace_file *file, struct path_syncs *syncs)
{
    size_t rows = file->columns.count, count = 0;
    struct names texts = {0};
    bool *wanted = memory_zeroed(rows + 1, sizeof *wanted), done = true;
    *syncs = (struct path_syncs){.count = 0};
    for (size_t row = 0; wanted && row < rows; row++)
        count += wanted[row] = path_sync_wanted(file, row);
    uint32_t *streams = count > 0 ? memory_filled(rows, sizeof *streams) : NULL;
    uint32_t *records = count > 0 ? memory_filled(rows, sizeof *records) : NULL;
    if (count > 0) {
        syncs->items = memory_items(count, sizeof *syncs->items);
        done = (streams && records && syncs->items) || failure_memory(&call->failure);
        done =
            done && read_numbers(call, file, "wait_on_stream", wanted, streams, &texts) &&
            read_numbers(call, file, "wait_on_cuda_event_record_corr_id", wanted, records, &texts);
    } else if (!wanted) {
        done = failure_memory(&call->failure);
    }
    for (size_t row = 0; done && count > 0 && row < rows; row++) {
        int64_t stream = wanted[row] ? number_of(&texts, streams[row]) : NUMBER_NONE;
        if (stream != NUMBER_NONE)
            syncs->items[syncs->count++] =
                (struct path_sync){(uint32_t)row, stream, number_of(&texts, records[row])};
    }
    memory_free(wanted);
    memory_free(streams);
    memory_free(records);
    names_clear(&texts);
    return done;
}

/* The steps of a call. A path is found when its step is first read, and kept for later reads until
** these take KEPT_PATHS bytes in all. */
struct path_rows {
    struct rows rows; /* must be first */
    struct database *database;
    struct call_trace opened;
    struct path_syncs *syncs; /* by member */
    struct critical_path *path;
    size_t count;
    struct path_step *kept; /* by step; no parts: not kept */
    size_t room;            /* bytes that may still be kept */
};

struct path_scan {
    struct row_scan base; /* must be first */
    size_t next;          /* the next step */
    const struct path_step *step;
    struct path_step own; /* the step, if it is not kept */
    size_t part;          /* the next of its parts */
    int64_t number;       /* of the next row */
};

/* Finds the path of the next step. */
static int find_next_path(struct path_scan *scan, struct failure *failure)
{
    struct path_rows *paths = (struct path_rows *)scan->base.rows;
    struct path_step *kept = &paths->kept[scan->next];
    scan->part = 0;
    scan->step = kept;
    if (kept->count == 0) {
        database_begin_work(paths->database);
        bool found = critical_path_step(paths->path, scan->next, &scan->own, failure);
        database_end_work(paths->database);
        if (!found)
            return SQLITE_ERROR;
        size_t size = scan->own.capacity * sizeof *scan->own.parts +
                      scan->own.off_capacity * sizeof *scan->own.off;
        scan->step = &scan->own;
        if (scan->own.count > 0 && size <= paths->room) {
            *kept = scan->own;
            scan->own = (struct path_step){.count = 0};
            scan->step = kept;
            paths->room -= size;
            paths->rows.memory += size;
        }
    }
    scan->next++;
    return SQLITE_OK;
}

static int path_begin(struct rows *rows, const struct wish *wish, struct row_scan **scan,
                      struct failure *failure)
{
    (void)wish;
    (void)failure;
    struct path_scan *it = *scan ? (struct path_scan *)*scan : memory_zeroed(1, sizeof *it);
    if (!it)
        return SQLITE_NOMEM;
    *it = (struct path_scan){.base = {rows}, .own = it->own};
    *scan = &it->base;
    return SQLITE_OK;
}

static int path_next(struct row_scan *base, struct position *position, bool *end,
                     struct failure *failure)
{
    struct path_scan *scan = (struct path_scan *)base;
    const struct path_rows *paths = (const struct path_rows *)base->rows;
    *end = false;
    if (!scan->step || scan->part >= scan->step->count + scan->step->off_count) {
        *end = scan->next == paths->count;
        int code = *end ? SQLITE_OK : find_next_path(scan, failure);
        if (*end || code != SQLITE_OK)
            return code;
    }
    *position = (struct position){scan->number++, scan->next - 1, (int64_t)scan->part++};
    return SQLITE_OK;
}

static void path_end(struct row_scan *base)
{
    struct path_scan *scan = (struct path_scan *)base;
    memory_free(scan->own.parts);
    memory_free(scan->own.off);
    memory_free(scan);
}

static void name_column(const struct trace_file *file, uint32_t row, sqlite3_context *context)
{
    const struct name *name = &file->names.items[file->columns.name[row]];
    sqlite3_result_text64(context, name->text, name->length, SQLITE_TRANSIENT, SQLITE_UTF8);
}

/* A column of a path without parts (P1). */
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
    const struct path_step *step = ((const struct path_scan *)scan)->step;
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
    for (size_t i = 0; paths->kept && i < paths->count; i++) {
        memory_free(paths->kept[i].parts);
        memory_free(paths->kept[i].off);
    }
    memory_free(paths->kept);
    critical_path_free(paths->path);
    for (size_t i = 0; paths->syncs && i < paths->opened.trace.count; i++)
        memory_free(paths->syncs[i].items);
    memory_free(paths->syncs);
    call_trace_close(&paths->opened);
    memory_free(paths);
}

static const struct rows_methods path_methods = {
    .begin = path_begin,
    .next = path_next,
    .end = path_end,
    .column = path_column,
    .destroy = path_destroy,
};

static bool find_paths(struct call *call, struct path_rows *paths)
{
    static const char *const clocks[] = {[CLOCK_DEVICE] = "device", [CLOCK_HOST] = "host"};
    static const struct call_trace_request request = {.trace = CRITICAL_TRACE,
                                                      .ranks = CRITICAL_RANKS,
                                                      .iterations = CRITICAL_ITERATIONS,
                                                      .steps = CRITICAL_STEPS,
                                                      .use = TRACE_FOR_DIFF,
                                                      .quoted = true};
    const struct trace *trace = &paths->opened.trace;
    int clock;
    double off = 0;
    if (!argument_real(call, CRITICAL_OFF, &off) ||
        !argument_word(call, CRITICAL_CLOCK, clocks, COUNT_OF(clocks), &clock) ||
        !call_trace_open(call, &request, &paths->opened))
        return false;
    paths->syncs = memory_zeroed(trace->count, sizeof *paths->syncs);
    bool done = paths->syncs || failure_memory(&call->failure);
    for (size_t i = 0; done && i < trace->count; i++)
        done =
            !trace->members[i].chosen || read_syncs(call, trace->members[i].file, &paths->syncs[i]);
    if (done)
        paths->path =
            critical_path_new(trace, &paths->opened.steps, (enum step_clock)clock, off > 0,
                              paths->syncs, &call->database->cache.stopper, &call->failure);
    if (!paths->path)
        return false;
    paths->count = critical_path_count(paths->path);
    paths->kept = memory_zeroed(paths->count, sizeof *paths->kept);
    return paths->kept || failure_memory(&call->failure);
}

static int path_produce(struct call *call, struct rows **rows)
{
    struct path_rows *paths = memory_zeroed(1, sizeof *paths);
    if (!paths)
        return SQLITE_NOMEM;
    paths->rows.methods = &path_methods;
    paths->database = call->database;
    paths->room = KEPT_PATHS;
    if (!find_paths(call, paths)) {
        path_destroy(&paths->rows);
        return SQLITE_ERROR;
    }
    paths->rows.memory = call_trace_memory(&paths->opened);
    *rows = &paths->rows;
    return SQLITE_OK;
}

const struct table_function critical_path_function = {
    .name = "critical_path",
    .family = FAMILY_CRITICAL_PATH,
    .question = "What does each step wait for? What would a fix bring?",
    .text =
        "what each step waited for, from its start to its end: host, launches, queues and kernels",
    COLUMNS(columns_of_path),
    ARGUMENTS(arguments_of_path),
    .reads_files = true,
    .produce = path_produce,
};
