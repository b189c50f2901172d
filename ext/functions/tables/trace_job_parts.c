/*
** trace_job_parts: how the time in stretches of a job's path is spent.
*/
#include <string.h>

#include "analysis/steps/instants.h"
#include "analysis/job/job_rank.h"
#include "analysis/parts/parts.h"
#include "loading/host_collective.h"
#include "base/memory.h"
#include "functions/call/call_trace.h"

static const struct table_column columns_of_job_parts[] = {
    {"stretch", "INTEGER", "0, 1, ...: index of the stretch in `schedule`"},
    {"rank", "INTEGER", "rank on which the path is"},
    {"iteration", "INTEGER",
     "number of the step of the job's lowest rank; NULL in files without steps"},
    {"class", "TEXT", "as in trace_step_time"},
    {"name", "TEXT", "operator, kernel or host event; NULL if nothing was recorded"},
    {"time_ns", "INTEGER", "ns"},
};

enum { JOB_PARTS_SCHEDULE = 1, JOB_PARTS_LEVEL };

static const struct argument arguments_of_job_parts[] = {
    {TRACE_ARGUMENT},
    {"schedule", TAKES_TEXT, true,
     "JSON array of objects of trace_job_schedule, for ranks and steps of this trace"},
    {"level", TAKES_TEXT, false,
     "what a name is: 'op', 'top_op', 'module', 'annotation' or 'kernel'; default 'op'"},
    {STEPS_ARGUMENT},
};

/* A stretch of the argument. NUMBER_NONE: null. */
struct asked_stretch {
    int64_t stretch, rank, iteration, own_iteration, start, length, event;
};

/* Reads the members of an object, after its type. */
static const char asked_sql[] =
    "SELECT json_type(?1), ?1 ->> 'rank', ?1 ->> 'own_ts_ns', ?1 ->> 'dur_ns', ?1 ->> 'iteration',"
    " ?1 ->> 'own_iteration', ?1 ->> 'event'";
enum { ASKED_RANK = 1, ASKED_START, ASKED_LENGTH, ASKED_ITERATION, ASKED_OWN, ASKED_EVENT };

struct parts_lister {
    struct call *call;
    struct result *result;
    const struct trace *trace;
    struct asked_stretch *asked; /* by rank */
    size_t count, capacity;
    struct job_rank rank; /* the current rank */
    struct instants instants;
    struct names names;           /* names of parts */
    struct attributed_step paths; /* parts of a stretch by full path, */
    struct attributed_step step;  /* and at the level */
    struct table parts;           /* index of the parts in `step` */
    enum label_level level;
    size_t window; /* window of the last stretch */
};

/* Reads an integer member; only the last ones may be null. */
static bool take_integer(sqlite3_stmt *row, int column, int64_t *to)
{
    int type = sqlite3_column_type(row, column);
    *to = type == SQLITE_INTEGER ? sqlite3_column_int64(row, column) : NUMBER_NONE;
    return type == SQLITE_INTEGER || (type == SQLITE_NULL && column >= ASKED_ITERATION);
}

static bool refuse_schedule(struct parts_lister *lister)
{
    return failure_set(&lister->call->failure, FAILURE_REQUEST,
                       "schedule must be a JSON array of objects of trace_job_schedule: see [%zu]",
                       lister->count);
}

static bool take_stretch(struct parts_lister *lister, sqlite3_stmt *row)
{
    struct asked_stretch asked = {.stretch = (int64_t)lister->count};
    wide_time end;
    bool valid = take_integer(row, ASKED_RANK, &asked.rank) &&
                 take_integer(row, ASKED_START, &asked.start) &&
                 take_integer(row, ASKED_LENGTH, &asked.length) &&
                 take_integer(row, ASKED_ITERATION, &asked.iteration) &&
                 take_integer(row, ASKED_OWN, &asked.own_iteration) &&
                 take_integer(row, ASKED_EVENT, &asked.event);
    end = (wide_time)asked.start + asked.length;
    if (!valid || asked.length < 0 || end > INT64_MAX)
        return refuse_schedule(lister);
    if (!MEMORY_GROW(lister->asked, lister->capacity, lister->count + 1))
        return failure_memory(&lister->call->failure);
    lister->asked[lister->count++] = asked;
    return true;
}

static bool take_schedule(struct parts_lister *lister)
{
    struct json_array array = {.sql = asked_sql};
    const char *type;
    while ((type = json_array_next(lister->call, JOB_PARTS_SCHEDULE, &array)) != NULL)
        (void)(strcmp(type, "object") == 0 ? take_stretch(lister, array.element)
                                           : refuse_schedule(lister));
    return array.next ? lister->call->failure.code == FAILURE_NONE : refuse_schedule(lister);
}

static int asked_order(const void *a, const void *b)
{
    return COMPARE(((const struct asked_stretch *)a)->rank,
                   ((const struct asked_stretch *)b)->rank);
}

static bool refuse(struct parts_lister *lister, const struct asked_stretch *asked, const char *what)
{
    return failure_set(&lister->call->failure, FAILURE_REQUEST,
                       "schedule [%lld]: the trace has no %s", (long long)asked->stretch, what);
}

/* Finds the window of a stretch; NULL if the rank has none. It starts at the last window, because
** stretches are mostly in order of time. */
static const struct job_window *find_window(struct parts_lister *lister,
                                            const struct asked_stretch *asked)
{
    const struct job_rank *rank = &lister->rank;
    for (size_t i = 0; i < rank->window_count; i++) {
        size_t index = (lister->window + i) % rank->window_count;
        const struct window *window = &rank->windows[index].window;
        bool inside =
            asked->event != NUMBER_NONE || asked->length == 0 ||
            (window->start <= asked->start && asked->start + asked->length <= window->end);
        if (window->iteration != asked->own_iteration || !inside)
            continue;
        lister->window = index;
        return &rank->windows[index];
    }
    return NULL;
}

/* Finds the row of device work, or of a collective on the host, by its position in traceEvents;
** ROW_NONE: missing. */
static uint32_t find_row(const struct parts_lister *lister, size_t member, int64_t event)
{
    const struct trace_file *file = lister->trace->members[member].file;
    const struct columns *columns = &file->columns;
    size_t row = 0;
    LOWER_BOUND(row, columns->count, columns->event[row] < event);
    bool found = row < columns->count && columns->event[row] == event &&
                 (columns_find(columns, row, KIND_WORK) == row ||
                  host_collective_row(file, row) != HOST_NONE);
    return found ? (uint32_t)row : ROW_NONE;
}

/* Finds the parts of a stretch. */
static bool find_parts(struct parts_lister *lister, const struct asked_stretch *asked)
{
    struct instants *at = &lister->instants;
    const struct job_window *of = find_window(lister, asked);
    int64_t end = asked->start + asked->length;
    lister->paths.count = 0;
    instants_begin(at, &lister->paths, &lister->names, 0, &lister->call->failure);
    if (!of)
        return refuse(lister, asked, "such step of the rank");
    if (asked->length == 0)
        return instants_add_none(at);
    if (asked->event == NUMBER_NONE)
        return instants_add(at, of->member, &of->window, asked->start, end);
    uint32_t row = find_row(lister, of->member, asked->event);
    return row == ROW_NONE ? refuse(lister, asked, "such collective of the rank")
                           : instants_add_row(at, of->member, &of->window, row, asked->start, end);
}

/* Sums up the parts of a stretch by their names at the level. */
static bool add_up(struct parts_lister *lister)
{
    lister->step.count = 0;
    table_clear(&lister->parts);
    for (size_t i = 0; i < lister->paths.count; i++) {
        struct attributed part;
        if (part_at_level(&lister->paths.rows[i], lister->level, false, &part) &&
            !parts_add(&lister->parts, &lister->step, &part))
            return failure_memory(&lister->call->failure);
    }
    return true;
}

/* Adds the rows of a stretch. */
static bool add_stretch(struct parts_lister *lister, const struct asked_stretch *asked)
{
    struct result *result = lister->result;
    const struct names *names = &lister->names;
    const struct stopper *stopper = lister->instants.stopper;
    if (!find_parts(lister, asked) || !add_up(lister) ||
        !parts_sort(&lister->step, names, stopper, &lister->call->failure))
        return false;
    for (size_t i = 0; i < lister->step.count; i++) {
        const struct attributed *part = &lister->step.rows[i];
        result_integer(result, asked->stretch);
        result_integer(result, asked->rank);
        result_number(result, asked->iteration);
        result_string(result, step_class_name(part->step_class));
        result_name(result, names, part->name[0]);
        result_integer(result, (int64_t)part->time);
    }
    return true;
}

/* Adds the rows of the stretches of a rank: [first, next). */
static bool add_rank(struct parts_lister *lister, size_t first, size_t next)
{
    const struct trace *trace = lister->trace;
    const struct asked_stretch *asked = lister->asked;
    struct names texts = {.count = 0};
    size_t index = 0;
    LOWER_BOUND(index, trace->rank_count, trace->ranks[index] < asked[first].rank);
    if (index == trace->rank_count || trace->ranks[index] != asked[first].rank)
        return refuse(lister, &asked[first], "such rank");
    bool done = job_rank_make(&lister->rank, trace, index, true, true, &texts,
                              lister->instants.stopper, &lister->call->failure);
    names_clear(&texts);
    lister->window = 0;
    for (size_t i = first; done && i < next; i++)
        done = add_stretch(lister, &asked[i]);
    job_rank_clear(&lister->rank);
    return done;
}

static bool add_rows(struct parts_lister *lister)
{
    const struct stopper *stopper = call_stopper(lister->call);
    struct failure *failure = &lister->call->failure;
    bool done = sort_items(lister->asked, lister->count, sizeof *lister->asked, asked_order,
                           stopper, failure) &&
                instants_make(&lister->instants, lister->trace,
                              (struct graph_knowledge){.captures = NULL}, stopper, failure);
    for (size_t i = 0, next; done && i < lister->count; i = next) {
        for (next = i; next < lister->count && lister->asked[next].rank == lister->asked[i].rank;)
            next++;
        done = add_rank(lister, i, next);
    }
    instants_clear(&lister->instants);
    names_clear(&lister->names);
    table_clear(&lister->parts);
    memory_free(lister->paths.rows);
    memory_free(lister->step.rows);
    return done;
}

static int job_parts_produce(struct call *call, struct rows **rows)
{
    static const char *const levels[] = {[LEVEL_OP] = "op",
                                         [LEVEL_TOP_OP] = "top_op",
                                         [LEVEL_MODULE] = "module",
                                         [LEVEL_ANNOTATION] = "annotation",
                                         [LEVEL_KERNEL] = "kernel"};
    static const struct call_trace_request request = {.use = TRACE_FOR_DIFF};
    struct call_trace opened = {.trace = {.count = 0}};
    struct parts_lister lister = {
        .call = call, .result = result_new(COUNT_OF(columns_of_job_parts)), .trace = &opened.trace};
    int level;
    if (lister.result && argument_word(call, JOB_PARTS_LEVEL, levels, COUNT_OF(levels), &level) &&
        take_schedule(&lister) && call_trace_open(call, &request, &opened)) {
        lister.level = (enum label_level)level;
        (void)add_rows(&lister);
    }
    memory_free(lister.asked);
    call_trace_close(&opened);
    return result_finish(lister.result, call_code(call), rows);
}

const struct table_function trace_job_parts_function = {
    .name = "trace_job_parts",
    .family = FAMILY_RANKS_AND_THE_JOB,
    .question = "Files on many machines: where did the job's time go?",
    .text = "where the time on a job's path went, for each stretch of trace_job_schedule",
    COLUMNS(columns_of_job_parts),
    ARGUMENTS(arguments_of_job_parts),
    .produce = job_parts_produce,
};
