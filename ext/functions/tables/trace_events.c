/*
** trace_events: the events of a trace, read directly from the columns of its files.
*/
#include <string.h>

#include "base/memory.h"
#include "file/stacks.h"
#include "functions/call/event_scan.h"

static const struct table_column columns_of_events[] = {
    {"rank", "INTEGER", "rank of the file"},
    {"iteration", "INTEGER", "number of the step; NULL outside of every step"},
    {"device", "TEXT", "'CPU' or 'GPU'"},
    {"cat", "TEXT", "category"},
    {"name", "TEXT", "name"},
    {"ts", "REAL", "us from the earliest event of the rank"},
    {"dur", "REAL", "us; NULL for phases without a duration"},
    {"pid", "", "process, an integer or text as in the file"},
    {"tid", "", "thread or stream, an integer or text as in the file"},
    {"stream", "INTEGER",
     "args.stream; Stream Id of args for events without a category; else tid for device work, NULL "
     "for the host"},
    {"correlation", "INTEGER",
     "number that a call shares with its device work: args.correlation, or correlation_id of XLA"},
    {"link", "INTEGER",
     "for device work, the event of its launch; for a launch, its first device work; else NULL"},
    {"parent", "INTEGER", "event that encloses it on its thread; NULL: none"},
    {"depth", "INTEGER", "number of events that enclose it on its thread"},
    {"self_dur", "REAL", "us, dur without nested events"},
    {"ph", "TEXT", "phase: 'X'; a pair of B and E is one row with phase 'B'"},
    {"args", "TEXT", "JSON object, read from the file again by each query that names this column"},
    {"file", "TEXT", "path"},
    {"event", "INTEGER", "0-based position in traceEvents; (file, event) is the key of the row"},
    {"ts_ns", "INTEGER", "ns, absolute: baseTimeNanoseconds + ts"},
    {"dur_ns", "INTEGER", "ns"},
    {"operator", "INTEGER",
     "outermost event matching operator_name around this event or its launch; NULL: none"},
};

enum { EVENTS_OF_LAST_STEP = 2, EVENTS_OF_PHASES, EVENTS_OF_OPERATOR };

static const struct argument arguments_of_events[] = {
    {TRACE_ARGUMENT},
    {"ranks", TAKES_RANKS, false, "integer, JSON array or 'all'; default 'all'"},
    {"include_last_profiler_step", TAKES_INTEGER, false,
     "keep only the events that an analysis counts: 0 without the last step of each rank, 1 with "
     "it; default every event"},
    {"phases", TAKES_TEXT, false, "phase letters, or 'all'; default 'XB'"},
    {"operator_name", TAKES_TEXT, false,
     "for column operator: a part of the name, or a GLOB pattern with * or ?; default none"},
    {STEPS_ARGUMENT},
};

static void put_event_name(sqlite3_context *context, const struct trace_file *file, uint32_t id)
{
    if (id == NAME_NONE)
        return;
    /* SQLITE_STATIC: the cursor's rows hold the file, so the text outlives the statement. */
    const struct name *name = &file->names.items[id];
    int length = file->names.has_nul ? (int)name->length : -1; /* texts with a length are copied */
    sqlite3_result_text(context, name->text, length, SQLITE_STATIC);
}

static void put_event_integer(sqlite3_context *context, int64_t value)
{
    if (value != NUMBER_NONE)
        sqlite3_result_int64(context, value);
}

static void put_event_identifier(sqlite3_context *context, const struct trace_file *file,
                                 const struct identifier *identifier)
{
    if (identifier->kind == IDENTIFIER_INTEGER)
        sqlite3_result_int64(context, identifier->value);
    else if (identifier->kind == IDENTIFIER_TEXT)
        put_event_name(context, file, (uint32_t)identifier->value);
}

/* Returns parent, depth or self_dur. The file's stacks are built on first use. */
static int put_event_stack(sqlite3_context *context, const struct event_rows *events,
                           struct trace_file *file, size_t row, int column, struct failure *failure)
{
    const struct stacks *stacks = &file->stacks;
    if (!stacks->made) {
        connection_begin_work(events->connection);
        bool found = stacks_find(file, &events->connection->cache.stopper, failure);
        connection_end_work(events->connection);
        if (!found)
            return SQLITE_ERROR;
    }
    if (column == EVENTS_PARENT && stacks->parent[row] != ROW_NONE)
        sqlite3_result_int64(context, file->columns.event[stacks->parent[row]]);
    else if (column == EVENTS_DEPTH && stacks->depth[row] != DEPTH_NONE)
        sqlite3_result_int64(context, stacks->depth[row]);
    else if (column == EVENTS_SELF_DUR && stacks->self[row] != NUMBER_NONE)
        sqlite3_result_double(context, microseconds(stacks->self[row]));
    return SQLITE_OK;
}

/* Returns, by name id, whether a name contains `wanted` or, with * or ?, matches this pattern. NULL
** on failure. */
static bool *find_names(const struct names *names, const char *wanted,
                        const struct stopper *stopper, struct failure *failure)
{
    bool pattern = strpbrk(wanted, "*?") != NULL;
    bool *found = memory_zeroed(names->count + 1, sizeof *found);
    if (!found)
        failure_memory(failure);
    for (size_t id = 0; found && id < names->count; id++) {
        const char *text = names->items[id].text;
        found[id] = pattern ? sqlite3_strglob(wanted, text) == 0 : strstr(text, wanted) != NULL;
        if (!stopper_goes_on(stopper, id, failure)) {
            memory_free(found);
            return NULL;
        }
    }
    return found;
}

static bool find_operators(struct event_rows *events, size_t member, struct failure *failure)
{
    struct trace_file *file = events->opened.trace.members[member].file;
    const struct stopper *stopper = &events->connection->cache.stopper;
    bool *wanted = find_names(&file->names, events->operator_name, stopper, failure);
    if (wanted && stacks_find(file, stopper, failure))
        events->operators[member] = stacks_outermost(file, wanted, stopper, failure);
    memory_free(wanted);
    if (events->operators[member])
        events->rows.memory += file->columns.count * sizeof **events->operators;
    return events->operators[member] != NULL;
}

static int put_event_operator(sqlite3_context *context, struct event_rows *events, size_t member,
                              size_t row, struct failure *failure)
{
    const struct columns *columns = &events->opened.trace.members[member].file->columns;
    if (!events->operator_name)
        return SQLITE_OK;
    if (!events->operators[member]) {
        connection_begin_work(events->connection);
        bool found = find_operators(events, member, failure);
        connection_end_work(events->connection);
        if (!found)
            return SQLITE_ERROR;
    }
    uint32_t at = kind_is_device(columns->kind[row]) ? columns->link[row] : (uint32_t)row;
    if (at != ROW_NONE && events->operators[member][at] != ROW_NONE)
        sqlite3_result_int64(context, columns->event[events->operators[member][at]]);
    return SQLITE_OK;
}

static int put_event_args(sqlite3_context *context, struct row_scan *scan,
                          const struct event_rows *events, struct trace_file *file, size_t row,
                          struct failure *failure)
{
    const unsigned char *text;
    size_t length;
    connection_begin_work(events->connection);
    bool read = args_read(event_scan_args(scan), file, row, &events->connection->cache.stopper,
                          &text, &length, failure);
    connection_end_work(events->connection);
    if (read && text)
        sqlite3_result_text64(context, (const char *)text, length, SQLITE_TRANSIENT, SQLITE_UTF8);
    return read ? SQLITE_OK : SQLITE_ERROR;
}

static int events_column(struct rows *rows, struct row_scan *scan, const struct position *position,
                         int column, sqlite3_context *context, struct failure *failure)
{
    struct event_rows *events = (struct event_rows *)rows;
    const struct trace_member *member = &events->opened.trace.members[position->part];
    struct trace_file *file = member->file;
    const struct columns *columns = &file->columns;
    size_t row = (size_t)position->part_row;
    int64_t origin = events->opened.trace.origins[member->rank_index];
    switch (column) {
    case EVENTS_RANK:
        sqlite3_result_int64(context, member->rank);
        break;
    case EVENTS_ITERATION:
        if (step_of(member->steps, row) != STEP_NONE)
            sqlite3_result_int64(context, member_iteration(member, step_of(member->steps, row)));
        break;
    case EVENTS_DEVICE:
        sqlite3_result_text(context, kind_is_device(columns->kind[row]) ? "GPU" : "CPU", 3,
                            SQLITE_STATIC);
        break;
    case EVENTS_CAT:
        put_event_name(context, file, row_place(columns, row)->cat);
        break;
    case EVENTS_NAME:
        put_event_name(context, file, columns->name[row]);
        break;
    case EVENTS_TS:
        if (columns->ts[row] != NUMBER_NONE && origin != NUMBER_NONE)
            sqlite3_result_double(context, microseconds((wide_time)columns->ts[row] - origin));
        break;
    case EVENTS_DUR:
        if (columns->dur[row] != NUMBER_NONE)
            sqlite3_result_double(context, microseconds(columns->dur[row]));
        break;
    case EVENTS_PID:
        put_event_identifier(context, file,
                             &file->tracks.items[row_place(columns, row)->track].pid);
        break;
    case EVENTS_TID:
        put_event_identifier(context, file,
                             &file->tracks.items[row_place(columns, row)->track].tid);
        break;
    case EVENTS_STREAM:
        put_event_integer(context, row_place(columns, row)->stream);
        break;
    case EVENTS_CORRELATION:
        put_event_integer(context, columns->correlation[row]);
        break;
    case EVENTS_LINK:
        if (columns->link[row] != ROW_NONE)
            sqlite3_result_int64(context, columns->event[columns->link[row]]);
        break;
    case EVENTS_PARENT:
    case EVENTS_DEPTH:
    case EVENTS_SELF_DUR:
        return put_event_stack(context, events, file, row, column, failure);
    case EVENTS_ARGS:
        return put_event_args(context, scan, events, file, row, failure);
    case EVENTS_PH:
        sqlite3_result_text(context, (const char *)&row_place(columns, row)->phase, 1,
                            SQLITE_TRANSIENT);
        break;
    case EVENTS_FILE:
        sqlite3_result_text(context, file->shown, -1, SQLITE_STATIC);
        break;
    case EVENTS_EVENT:
        sqlite3_result_int64(context, columns->event[row]);
        break;
    case EVENTS_TS_NS:
        put_event_integer(context, columns->ts[row]);
        break;
    case EVENTS_DUR_NS:
        put_event_integer(context, columns->dur[row]);
        break;
    case EVENTS_OPERATOR:
        return put_event_operator(context, events, position->part, row, failure);
    }
    return SQLITE_OK;
}

static void events_destroy(struct rows *rows)
{
    struct event_rows *events = (struct event_rows *)rows;
    for (size_t i = 0; events->operators && i < events->opened.trace.count; i++)
        memory_free(events->operators[i]);
    memory_free(events->operators);
    memory_free(events->operator_name);
    call_trace_close(&events->opened);
    memory_free(events->first);
    memory_free(events->limits);
    memory_free(events);
}

static const struct rows_methods event_methods = {
    .begin = event_scan_begin,
    .next = event_scan_next,
    .end = event_scan_end,
    .column = events_column,
    .destroy = events_destroy,
};

static bool prepare_rows(struct event_rows *events, bool analysis, bool last_step,
                         struct failure *failure)
{
    const struct trace *trace = &events->opened.trace;
    events->first = memory_zeroed(trace->count, sizeof *events->first);
    if (analysis)
        events->limits = memory_zeroed(trace->rank_count, sizeof *events->limits);
    if (!events->first || (analysis && !events->limits))
        return failure_memory(failure);
    if (analysis)
        trace_last_step(trace, last_step, events->limits);
    for (size_t i = 0; i < trace->count; i++) {
        const struct trace_member *member = &trace->members[i];
        events->first[i] = (size_t)events->rows.count;
        if (!member->chosen)
            continue;
        member->file->lent = true;
        events->rows.count += (int64_t)member->file->columns.count;
    }
    events->rows.memory = call_trace_memory(&events->opened);
    return true;
}

/* Keeps a copy of operator_name, because the rows outlive the call. */
static bool prepare_operators(struct call *call, struct event_rows *events)
{
    const char *name;
    if (!argument_name(call, EVENTS_OF_OPERATOR, "a part of a name, or a GLOB pattern", &name))
        return false;
    if (!name)
        return true;
    events->operators = memory_zeroed(events->opened.trace.count, sizeof *events->operators);
    events->operator_name = memory_allocate(strlen(name) + 1);
    if (!events->operators || !events->operator_name)
        return failure_memory(&call->failure);
    strcpy(events->operator_name, name);
    return true;
}

static bool open_events(struct call *call, struct event_rows *events)
{
    bool given, analysis, last_step;
    if (!argument_phases(call, EVENTS_OF_PHASES, events->phases, &given) ||
        !argument_last_step(call, EVENTS_OF_LAST_STEP, &last_step, &analysis))
        return false;
    struct call_trace_request request = {.default_ranks = SELECT_ALL,
                                         .use = analysis ? TRACE_FOR_DIFF : TRACE_FOR_EVENTS,
                                         .phases = given ? events->phases : NULL};
    if (!call_trace_open(call, &request, &events->opened))
        return false;
    for (size_t i = 0; i < events->opened.trace.count && !given; i++) { /* T3.5 */
        const struct trace_file *file = events->opened.trace.members[i].file;
        events->phases['b'] = events->phases['b'] || (file && file->async);
    }
    return prepare_rows(events, analysis, last_step, &call->failure) &&
           prepare_operators(call, events);
}

static int events_produce(struct call *call, struct rows **rows)
{
    struct event_rows *events = memory_zeroed(1, sizeof *events);
    if (!events)
        return SQLITE_NOMEM;
    events->rows.methods = &event_methods;
    events->connection = call->connection;
    if (!open_events(call, events)) {
        events_destroy(&events->rows);
        return SQLITE_ERROR;
    }
    *rows = &events->rows;
    return SQLITE_OK;
}

const struct table_function trace_events_function = {
    .name = "trace_events",
    .family = FAMILY_EVENTS_AND_FILES,
    .question = "Your own question: what happened, event by event?",
    .text = "the events of a trace, one row per event",
    COLUMNS(columns_of_events),
    ARGUMENTS(arguments_of_events),
    .serves = served_of_events,
    .typical_rows = 1000000,
    .produce = events_produce,
};
