#include "call_checks.h"

#include "base/memory.h"
#include "functions/call/graph_args.h"
#include "functions/call/call_metadata.h"
#include "functions/call/step_text.h"
#include "text/ascii.h"
#include "text/text.h"
#include "work_sums.h"

/* Adds a step to those with its text; none if it is NULL. */
static bool count_step(struct call *call, struct checks *checks, struct tally *tally, int side,
                       const char *text)
{
    struct tally_row row = {.names = &checks->texts, .key = {NAME_NONE, NAME_NONE, NAME_NONE}};
    if (text)
        row.key[0] = names_intern(&checks->texts, text, strlen(text));
    row.on[side] = true;
    row.sum[side] = 1;
    return (text && row.key[0] == NAME_NONE) ? failure_memory(&call->failure)
                                             : tally_add(tally, &row, &call->failure);
}

/* Counts the phase and the stratum of a step. */
static bool count_phase(struct call *call, struct checks *checks, int side, const struct name *form)
{
    struct step_form read;
    char *phase = NULL, *stratum = NULL;
    bool known = form && step_form_read(form->text, form->length, &read);
    if (known) {
        phase = step_phase(&read);
        stratum = step_stratum(&read);
    }
    bool done = !known || (phase && stratum) || failure_memory(&call->failure);
    done = done && count_step(call, checks, &checks->phases, side, phase) &&
           count_step(call, checks, &checks->strata, side, stratum);
    sqlite3_free(phase);
    sqlite3_free(stratum);
    return done;
}

/* Adds what the parts of a step say. */
static void add_parts(struct check_side *side, const struct attributed_step *found,
                      const struct names *names, struct check_step *step)
{
    for (size_t i = 0; i < found->count; i++) {
        const struct attributed *part = &found->rows[i];
        enum step_class class = part->step_class;
        int64_t fraction = (int64_t)(part->time % 1000);
        step->time += part->time;
        bool of_host = class == CLASS_CALL || class == CLASS_HOST || class == CLASS_UNRECORDED;
        if (class != CLASS_NONE && of_host > side->of_host)
            side->of_host = of_host;
        side->of_modules = side->of_modules || (part->name[0] != NAME_NONE &&
                                                label_is_module(&names->items[part->name[0]]));
        if (found->iteration != NUMBER_NONE && fraction > side->fraction)
            side->fraction = fraction;
    }
}

/* Reads the steps of a side. */
static bool read_steps(struct call *call, const struct checks_request *request, int side,
                       struct checks *checks)
{
    const struct call_trace *opened = &request->opened[side];
    const struct stopper *stopper = call_stopper(call);
    struct graph_args graphs = {.count = 0};
    struct attribution *attribution = NULL;
    struct attributed_step found = {.count = 0};
    struct check_step *steps = NULL;
    size_t count = 0;
    bool done = graph_args_read(call, &opened->trace, false, &graphs);
    const struct attribution_request asked = {.level = LEVEL_MODULE,
                                              .clock = request->clock,
                                              .knowledge = graph_args_knowledge(&graphs)};
    if (done)
        attribution =
            attribution_new(&opened->trace, &opened->steps, &asked, stopper, &call->failure);
    size_t all = attribution ? attribution_count(attribution) : 0;
    done = attribution && ((steps = memory_items(all, sizeof *steps)) ||
                           failure_memory(&call->failure));
    for (size_t i = 0; i < all && done; i++) {
        done = attribution_step(attribution, i, &found, &call->failure);
        if (!done || found.count == 0)
            continue;
        struct check_step *step = &steps[count++];
        *step = (struct check_step){.rank = opened->trace.ranks[found.rows[0].rank],
                                    .iteration = found.iteration};
        add_parts(&checks->sides[side], &found, attribution_names(attribution), step);
        done = count_phase(call, checks, side, found.form);
    }
    done = done && check_steps_add(checks, side, steps, count, stopper, &call->failure);
    memory_free(found.rows);
    memory_free(steps);
    attribution_free(attribution);
    graph_args_close(&graphs);
    return done;
}

/* What the files of both sides say. */
struct files_read {
    struct call *call;
    struct checks *checks;
    sqlite3_stmt *inside; /* reads what is inside a value */
    struct check_told *told;
    size_t count, capacity;
    int side;
    bool chosen; /* the current file is one of those that are compared */
};

static struct check_value keep_text(struct files_read *files, const char *text, size_t length)
{
    char *whole = text ? text_repaired(text, &length) : NULL;
    uint32_t id = whole ? names_intern(&files->checks->texts, whole, length) : NAME_NONE;
    memory_free(whole);
    return check_text(id);
}

/* Adds a value to what is told of the current side. Returns a SQLite result code. */
static int tell(struct files_read *files, enum check_code code, uint32_t item,
                struct check_value value)
{
    if (value.kind == VALUE_NONE || !MEMORY_GROW(files->told, files->capacity, files->count + 1))
        return SQLITE_NOMEM;
    files->told[files->count++] = (struct check_told){.texts = &files->checks->texts,
                                                      .code = code,
                                                      .item = item,
                                                      .side = files->side,
                                                      .value = value};
    return SQLITE_OK;
}

/* The same with a column of a row, unless it is NULL. */
static int tell_column(struct files_read *files, enum check_code code, uint32_t item,
                       sqlite3_stmt *row, int column)
{
    struct check_value value = {.kind = VALUE_INTEGER};
    int type = sqlite3_column_type(row, column);
    if (type == SQLITE_NULL)
        return SQLITE_OK;
    if (type == SQLITE_INTEGER)
        value.integer = sqlite3_column_int64(row, column);
    else if (type == SQLITE_FLOAT)
        value = (struct check_value){.kind = VALUE_REAL, .real = sqlite3_column_double(row, column)};
    else
        value = keep_text(files, (const char *)sqlite3_column_text(row, column),
                          (size_t)sqlite3_column_bytes(row, column));
    return tell(files, code, item, value);
}

/* What is inside the values of distributedInfo and, from DEVICE_COLUMN on, of deviceProperties. */
static const char inside_sql[] =
    "SELECT ?1 ->> '$.world_size', ?1 ->> '$.backend', ?1 ->> '$.nccl_version',"
    " ?1 ->> '$[0].name', nullif(json_array_length(?1), 0), ?1 ->> '$[0].numSms',"
    " ?1 ->> '$[0].totalGlobalMem'";
enum { WORLD_COLUMN, BACKEND_COLUMN, NCCL_COLUMN, DEVICE_COLUMN, INSIDE_COLUMNS = 7 };

static int tell_distributed(struct files_read *files, sqlite3_stmt *row)
{
    static const char nccl[] = "nccl_version";
    struct check_side *side = &files->checks->sides[files->side];
    int64_t world = sqlite3_column_int64(row, WORLD_COLUMN); /* 0: not there, or no number */
    if (world > 0 && world > side->world)
        side->world = world;
    uint32_t item = names_intern(&files->checks->texts, nccl, sizeof nccl - 1);
    if (!files->chosen)
        return SQLITE_OK;
    int code = tell_column(files, CHECK_BACKEND, NAME_NONE, row, BACKEND_COLUMN);
    if (code != SQLITE_OK)
        return code;
    return item == NAME_NONE ? SQLITE_NOMEM
                             : tell_column(files, CHECK_VERSION, item, row, NCCL_COLUMN);
}

static int tell_devices(struct files_read *files, sqlite3_stmt *row)
{
    int code = SQLITE_OK;
    for (int i = DEVICE_COLUMN; i < INSIDE_COLUMNS && code == SQLITE_OK && files->chosen; i++)
        code = tell_column(files, CHECK_DEVICE + (i - DEVICE_COLUMN), NAME_NONE, row, i);
    return code;
}

/* Tells what is inside the value of a key. */
static int tell_inside(struct files_read *files, sqlite3_stmt *row,
                       int (*tell_all)(struct files_read *files, sqlite3_stmt *row))
{
    sqlite3_bind_value(files->inside, 1, sqlite3_column_value(row, 1));
    int code = sqlite3_step(files->inside);
    if (code == SQLITE_ROW)
        code = tell_all(files, files->inside);
    else if (code != SQLITE_NOMEM && code != SQLITE_INTERRUPT)
        code = SQLITE_OK; /* a text that is not JSON */
    sqlite3_reset(files->inside);
    return code;
}

/* Tells what a key of a file says, if it is a version or an option. */
static int tell_key(struct files_read *files, const char *key, sqlite3_stmt *row)
{
    static const char *const options[] = {"with_stack", "profile_memory", "record_shapes",
                                          "with_modules", "with_flops"};
    bool version = sqlite3_strlike("%version%", key, 0) == 0 || strcmp(key, "schema") == 0;
    bool option = false;
    for (int i = 0; i < COUNT_OF(options); i++)
        option = option || strcmp(key, options[i]) == 0;
    if (!version && !option)
        return SQLITE_OK;
    struct check_value item = keep_text(files, key, strlen(key));
    return item.kind == VALUE_NONE
               ? SQLITE_NOMEM
               : tell_column(files, option ? CHECK_OPTION : CHECK_VERSION, item.text, row, 1);
}

static int take_key(void *to, sqlite3_stmt *row)
{
    static const char *const marks[][2] = {{"schemaVersion", "PyTorch (Kineto)"},
                                           {"viztracer_metadata", "VizTracer"}};
    struct files_read *files = to;
    const char *key = (const char *)sqlite3_column_text(row, 0);
    int code = SQLITE_OK;
    if (strcmp(key, "distributedInfo") == 0)
        return tell_inside(files, row, tell_distributed);
    if (strcmp(key, "deviceProperties") == 0)
        return tell_inside(files, row, tell_devices);
    if (!files->chosen)
        return SQLITE_OK;
    if (strcmp(key, "producer") == 0)
        return tell_column(files, CHECK_PROFILER, NAME_NONE, row, 1);
    for (int i = 0; i < COUNT_OF(marks) && code == SQLITE_OK; i++)
        if (strcmp(key, marks[i][0]) == 0)
            code = tell(files, CHECK_PROFILER, NAME_NONE,
                        keep_text(files, marks[i][1], strlen(marks[i][1])));
    return code == SQLITE_OK ? tell_key(files, key, row) : code;
}

/* Whether a file has a problem that matters (J2.8). `strict`: all of its metadata is JSON. */
static bool is_bad(const struct trace_member *member, bool strict)
{
    const struct trace_file *file = member->file;
    bool bad = file->skipped > 0 || file->trouble.code != FAILURE_NONE || member->again > 0 || !strict;
    for (enum problem i = 0; i < PROBLEM_COUNT; i++)
        bad = bad || (file->problems.count[i] > 0 && i != PROBLEM_BACKLOG && i != PROBLEM_NO_LAUNCH);
    return bad;
}

/* Whether a rank of a side is compared. */
static bool is_compared(const struct call_trace *opened, int64_t rank)
{
    size_t i = 0;
    while (i < opened->trace.count &&
           !(opened->trace.members[i].chosen && opened->trace.members[i].rank == rank))
        i++;
    return i < opened->trace.count;
}

/* Reads what the files of a side say: of all ranks, of which `opened` has those that are compared. */
static bool read_files(struct files_read *files, const struct call_trace *opened,
                       const struct call_trace *whole)
{
    struct check_side *side = &files->checks->sides[files->side];
    bool done = true, strict;
    side->recorded = (int64_t)whole->trace.rank_count;
    for (size_t i = 0; i < whole->trace.count && done; i++) {
        const struct trace_member *member = &whole->trace.members[i];
        if (!member->is_trace)
            continue;
        files->chosen = side->steps != NUMBER_NONE && is_compared(opened, member->rank);
        done = call_metadata_read(files->call, member->file, take_key, files, &strict);
        side->bad += done && is_bad(member, strict);
    }
    return done;
}

/* Reads what the files of both sides say, and finds the checks of it and of the steps. */
static bool find_told(struct call *call, const struct checks_request *request,
                      struct checks *checks)
{
    struct call_trace whole[2];
    struct files_read files = {.call = call, .checks = checks};
    const struct call_trace_request requests[] = {
        {.side = 0, .whole = true, .use = TRACE_FOR_EVENTS},
        {.side = 1, .whole = true, .use = TRACE_FOR_EVENTS}};
    if (!call_traces_open(call, requests, 2, whole))
        return false;
    int code = sqlite3_prepare_v2(call->connection->db, inside_sql, -1, &files.inside, NULL);
    bool done = call_check(call, code, "");
    for (; files.side < 2 && done; files.side++)
        done = read_files(&files, &request->opened[files.side], &whole[files.side]);
    done = done && checks_add(checks, files.told, files.count, call_stopper(call), &call->failure);
    sqlite3_finalize(files.inside);
    memory_free(files.told);
    for (int i = 0; i < 2; i++)
        call_trace_close(&whole[i]);
    return done;
}

/* Finds the checks of shapes and types. */
static bool find_work(struct call *call, const struct checks_request *request,
                      struct checks *checks)
{
    const struct check_side *sides = checks->sides;
    bool events = sides[0].steps != NUMBER_NONE && sides[1].steps != NUMBER_NONE;
    bool of_host = events && (sides[0].of_host > 0 || sides[1].of_host > 0), done = true;
    struct keyed device = {.width = 0}, host = {.width = 0};
    const struct keyed *found = &device;
    struct check_work work = {.device = request->device,
                              .device_count = request->device_count,
                              .host = of_host ? &host : NULL,
                              .steps = {request->opened[0].steps.steps,
                                        request->opened[1].steps.steps}};
    if (!request->device) {
        work.device = &found;
        work.device_count = 1;
        done = device_sums_find(call, request->opened, false, &device);
    }
    done = done && (!of_host || host_sums_find(call, request->opened, &host)) &&
           checks_add_work(checks, &work, call_stopper(call), &call->failure);
    keyed_clear(&device);
    keyed_clear(&host);
    return done;
}

bool call_checks_find(struct call *call, const struct checks_request *request,
                      struct checks *checks)
{
    *checks = (struct checks){.count = 0};
    for (int i = 0; i < 2; i++) {
        struct check_side *side = &checks->sides[i];
        side->of_host = side->fraction = side->world = NUMBER_NONE;
    }
    if (read_steps(call, request, 0, checks) && read_steps(call, request, 1, checks) &&
        find_told(call, request, checks) &&
        (!request->shapes || find_work(call, request, checks)) &&
        checks_order(checks, call_stopper(call), &call->failure))
        return true;
    checks_clear(checks);
    return false;
}
