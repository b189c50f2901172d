#include "call_checks.h"

#include "analysis/answer/thresholds.h"
#include "base/memory.h"
#include "call_pair.h"
#include "call_trust.h"
#include "functions/call/call_metadata.h"
#include "functions/call/step_text.h"
#include "functions/words/health_words.h"
#include "functions/words/label_words.h"
#include "text/ascii.h"
#include "text/text.h"
#include "work_sums.h"

/* Destination for the steps of a side. */
struct steps_read {
    struct checks *checks;
    int side;
    const int64_t *ranks;
    struct steps_walk from;
    struct check_step *items;
    size_t count, capacity;
};

/* Counts the phase and the stratum of a step. False if out of memory. */
static bool count_phase(struct steps_read *steps, const struct name *form)
{
    struct checks *checks = steps->checks;
    struct tally_row row = {.key = {NAME_NONE, NAME_NONE, NAME_NONE}};
    struct failure failure = {0};
    struct step_form read;
    char *phase = NULL, *stratum = NULL;
    bool known = form && step_form_read(form->text, form->length, &read), done = true;
    if (known) {
        phase = step_phase(&read);
        stratum = step_stratum(&read);
        row.key[0] = phase ? names_intern(&checks->texts, phase, strlen(phase)) : NAME_NONE;
        done = stratum && row.key[0] != NAME_NONE;
    }
    row.on[steps->side] = true;
    row.sum[steps->side] = 1;
    done = done && tally_add(&checks->phases, &row, &failure) &&
           names_intern(&checks->strata, stratum ? stratum : "", stratum ? strlen(stratum) : 0) !=
               NAME_NONE;
    sqlite3_free(phase);
    sqlite3_free(stratum);
    return done;
}

static bool take_step(void *to, const struct attributed_step *found)
{
    struct steps_read *steps = to;
    struct check_side *side = &steps->checks->sides[steps->side];
    const struct names *names = attribution_names(steps->from.attribution);
    if (!MEMORY_GROW(steps->items, steps->capacity, steps->count + 1))
        return false;
    struct check_step *step = &steps->items[steps->count++];
    *step = (struct check_step){.rank = steps->ranks[found->rows[0].rank],
                                .iteration = found->iteration};
    for (size_t i = 0; i < found->count; i++) {
        const struct attributed *part = &found->rows[i];
        enum step_class class = part->step_class;
        int64_t fraction = (int64_t)(part->time % 1000);
        bool of_host = class == CLASS_CALL || class == CLASS_HOST || class == CLASS_UNRECORDED;
        step->time += part->time;
        if (class != CLASS_NONE && of_host > side->of_host)
            side->of_host = of_host;
        side->of_modules = side->of_modules || (part->name[0] != NAME_NONE &&
                                                label_is_module(&names->items[part->name[0]]));
        if (found->iteration != NUMBER_NONE && fraction > side->fraction)
            side->fraction = fraction;
    }
    return count_phase(steps, found->form);
}

/* Counts the steps of the lowest rank, from which 'steady' selects; 0: the call selects other
** steps. */
static bool count_steady(struct call *call, const struct trace *trace, int side, int64_t *steps)
{
    const struct trace_member *lowest = trace_reference(trace);
    struct selection asked;
    bool done = argument_selection(call, argument_of(call, NAMES_ITERATIONS, side), &asked);
    bool steady = done && (asked.kind == SELECT_DEFAULT || asked.kind == SELECT_STEADY);
    *steps = 0;
    for (size_t i = 0; steady && lowest && i < trace->count; i++)
        if (trace->members[i].chosen && trace->members[i].rank == lowest->rank)
            *steps += (int64_t)trace->members[i].steps->iteration_count;
    selection_clear(&asked);
    return done;
}

/* Reads the steps of a side. */
static bool read_steps(struct call *call, const struct checks_request *request, int side,
                       struct checks *checks)
{
    const struct call_trace *opened = &request->opened[side];
    struct steps_read steps = {.checks = checks, .side = side, .ranks = opened->trace.ranks};
    steps.from = (struct steps_walk){.take = take_step, .to = &steps};
    bool done = count_steady(call, &opened->trace, side, &checks->sides[side].steady_of) &&
                steps_walk_take(call, opened, LEVEL_MODULE, request->clock, &steps.from) &&
                check_steps_add(&checks->sides[side], steps.items, steps.count, &call->failure);
    steps_walk_close(&steps.from);
    memory_free(steps.items);
    return done;
}

/* Finds the first calls on the rank of a side where they take longest (C21). */
static bool find_first_calls(struct call *call, const struct call_trace *opened,
                             struct check_side *side)
{
    static const struct first_call_limits limits = {FIRST_CALL_LEAST, FIRST_CALL_RATIO,
                                                    FIRST_CALL_OF, FIRST_CALL_WAITING};
    const struct trace *trace = &opened->trace;
    wide_time longest = -1;
    bool done = true;
    for (size_t rank = 0; done && rank < trace->rank_count; rank++) {
        struct first_calls found = {.calls = {0}};
        wide_time time = 0;
        for (size_t i = 0; done && i < trace->count; i++)
            done = !trace->members[i].chosen || trace->members[i].rank_index != rank ||
                   first_calls_add(&found, &trace->members[i], call_trace_steps(opened, i),
                                   &limits, call_stopper(call), &call->failure);
        for (enum first_call kind = 0; kind < FIRST_KINDS; kind++)
            time += found.time[kind];
        if (time > longest)
            side->first_calls = found;
        longest = time > longest ? time : longest;
    }
    side->windows = side->numbers > 0 ? side->steps / side->ranks : 1;
    return done;
}

/* Adds the findings about impossible or missing data in the recordings (J2.11). */
static bool add_trust(struct call *call, const struct checks_request *request,
                      struct checks *checks)
{
    const double means[] = {checks->sides[0].mean, checks->sides[1].mean};
    struct trust found;
    const struct trust *trust = request->trust ? request->trust : &found;
    if (checks->sides[0].steps == NUMBER_NONE || checks->sides[1].steps == NUMBER_NONE)
        return true;
    if (!request->trust &&
        !call_trust_find(call, request->opened, request->clock, means, &found))
        return false;
    const struct check_value none = check_text(NAME_NONE);
    struct writer text = {0};
    bool done = true;
    for (size_t i = 0; done && i < trust->count; i++) {
        const struct trust_item *item = &trust->items[i];
        bool both = item->code != TRUST_FINDING;
        const char *name = trust_check_name(item);
        text.length = 0;
        trust_write(&text, item);
        uint32_t what =
            text.failed ? NAME_NONE : names_intern(&checks->texts, text.bytes, text.length);
        uint32_t check_name = names_intern(&checks->texts, name, strlen(name));
        const struct check_value value = check_text(what);
        enum matters matters = item->decides                                  ? MATTERS_YES
                               : both || item->finding.severity == HEALTH_NOTE ? MATTERS_NO
                                                                              : MATTERS_MAYBE;
        done = (what != NAME_NONE && check_name != NAME_NONE) || failure_memory(&call->failure);
        struct check *check = check_add(checks, both ? CHECK_HEALTH_OF_BOTH : CHECK_HEALTH, matters,
                                        item->side ? none : value, item->side ? value : none);
        check->side = item->side;
        check->item = check_name;
        check->is_said = item->is_said;
    }
    writer_clear(&text);
    return done;
}

/* State of reading the files of both sides. */
struct files_read {
    struct call *call;
    struct checks *checks;
    sqlite3_stmt *inside; /* statement that reads a path inside a value */
    struct check_told *told;
    size_t count, capacity;
    int side;
    bool chosen; /* the current file is compared */
};

static struct check_value keep_text(struct files_read *files, const char *text, size_t length)
{
    char *whole = text ? text_repaired(text, &length) : NULL;
    uint32_t id = whole ? names_intern(&files->checks->texts, whole, length) : NAME_NONE;
    memory_free(whole);
    return check_text(id);
}

/* Adds a value from the current side's files. Returns a SQLite result code. */
static int tell(struct files_read *files, enum check_code code, uint32_t item,
                struct check_value value)
{
    if (!files->chosen)
        return SQLITE_OK;
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
        value =
            (struct check_value){.kind = VALUE_REAL, .real = sqlite3_column_double(row, column)};
    else
        value = keep_text(files, (const char *)sqlite3_column_text(row, column),
                          (size_t)sqlite3_column_bytes(row, column));
    return tell(files, code, item, value);
}

/* The checks that keys of files feed: with the value at a path, with a fixed text, or else with the
** whole value. `item` is like in struct check. */
static const struct known_key {
    const char *key;
    enum check_code code;
    const char *path, *text, *item;
} known_keys[] = {
    {"distributedInfo", CHECK_RANKS, "$.world_size", NULL, NULL},
    {"distributedInfo", CHECK_BACKEND, "$.backend", NULL, NULL},
    {"distributedInfo", CHECK_VERSION, "$.nccl_version", NULL, "nccl_version"},
    {"deviceProperties", CHECK_DEVICE, "$[0].name", NULL, NULL},
    {"deviceProperties", CHECK_DEVICES, "#", NULL, NULL},
    {"deviceProperties", CHECK_MULTIPROCESSORS, "$[0].numSms", NULL, NULL},
    {"deviceProperties", CHECK_MEMORY, "$[0].totalGlobalMem", NULL, NULL},
    {"producer", CHECK_PROFILER, NULL, NULL, NULL},
    {"schemaVersion", CHECK_PROFILER, NULL, "PyTorch (Kineto)", NULL},
    {"viztracer_metadata", CHECK_PROFILER, NULL, "VizTracer", NULL},
    {"with_stack", CHECK_OPTION, NULL, NULL, "with_stack"},
    {"profile_memory", CHECK_OPTION, NULL, NULL, "profile_memory"},
    {"record_shapes", CHECK_OPTION, NULL, NULL, "record_shapes"},
    {"with_modules", CHECK_OPTION, NULL, NULL, "with_modules"},
    {"with_flops", CHECK_OPTION, NULL, NULL, "with_flops"},
    {"schema", CHECK_VERSION, NULL, NULL, "schema"},
};

/* Reads a value at a path; `#` gives the length of an array. */
static const char inside_sql[] =
    "SELECT CASE ?2 WHEN '#' THEN nullif(json_array_length(?1), 0) ELSE ?1 ->> ?2 END";

/* Adds the values of a known key; `row` has its value. Returns a SQLite result code. */
static int tell_key(struct files_read *files, const struct known_key *known, sqlite3_stmt *row)
{
    struct check_side *side = &files->checks->sides[files->side];
    sqlite3_stmt *inside = known->path ? files->inside : NULL;
    struct check_value item = check_text(NAME_NONE);
    int code = SQLITE_ROW;
    if (known->item)
        item = keep_text(files, known->item, strlen(known->item));
    if (known->item && item.kind == VALUE_NONE)
        return SQLITE_NOMEM;
    if (inside) {
        code = sqlite3_bind_value(inside, 1, sqlite3_column_value(row, 1));
        sqlite3_bind_text(inside, 2, known->path, -1, SQLITE_STATIC);
        code = code == SQLITE_OK ? sqlite3_step(inside) : SQLITE_NOMEM;
    }
    if (code != SQLITE_ROW) {
        code = code == SQLITE_NOMEM || code == SQLITE_INTERRUPT ? code : SQLITE_OK; /* not JSON */
    } else if (known->code == CHECK_RANKS) {
        int64_t world = sqlite3_column_int64(inside, 0); /* 0: missing, or not a number */
        side->world = world > 0 && world > side->world ? world : side->world;
        code = SQLITE_OK;
    } else if (known->text) {
        code = tell(files, known->code, item.text,
                    keep_text(files, known->text, strlen(known->text)));
    } else {
        code = tell_column(files, known->code, item.text, inside ? inside : row, inside ? 0 : 1);
    }
    sqlite3_reset(inside);
    return code;
}

static int take_key(void *to, sqlite3_stmt *row)
{
    struct files_read *files = to;
    const char *key = (const char *)sqlite3_column_text(row, 0);
    const struct known_key version = {.code = CHECK_VERSION, .item = key};
    int code = SQLITE_OK;
    for (int i = 0; i < COUNT_OF(known_keys) && code == SQLITE_OK; i++)
        if (strcmp(key, known_keys[i].key) == 0)
            code = tell_key(files, &known_keys[i], row);
    return code == SQLITE_OK && sqlite3_strlike("%version%", key, 0) == 0
               ? tell_key(files, &version, row)
               : code;
}

/* Whether a file has a problem that matters (J2.8). `strict`: all of its metadata is JSON. */
static bool is_bad(const struct trace_member *member, bool strict)
{
    const struct trace_file *file = member->file;
    bool bad = file->skipped > 0 || file->trouble.code != FAILURE_NONE || member->again > 0;
    for (enum problem i = 0; i < PROBLEM_COUNT; i++)
        if (i != PROBLEM_BACKLOG && i != PROBLEM_NO_LAUNCH)
            bad = bad || file->problems.count[i] > 0;
    return bad || !strict;
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

/* Reads the values in the files of a side; `opened` has the files of the compared ranks. */
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

/* Reads the values in the files of both sides, and derives checks from them and from the steps. */
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

/* Finds the checks about shapes and types. */
static bool find_work(struct call *call, const struct checks_request *request,
                      struct checks *checks)
{
    const struct check_side *sides = checks->sides;
    bool events = sides[0].steps != NUMBER_NONE && sides[1].steps != NUMBER_NONE;
    bool of_host = events && (sides[0].of_host > 0 || sides[1].of_host > 0), done = true;
    struct keyed device = {.width = 0}, host = {.width = 0};
    const struct keyed *found = &device;
    struct check_work work = {.device = &found,
                              .device_count = 1,
                              .host = of_host ? &host : NULL,
                              .steps = {request->opened[0].steps.steps,
                                        request->opened[1].steps.steps}};
    done = request->device
               ? request->device(request->from, checks, &work.device, &work.device_count)
               : device_sums_find(call, request->opened, &(struct device_wish){.grids = false},
                                  &device);
    if (done && of_host && request->host)
        done = (work.host = request->host(request->from)) != NULL;
    else
        done = done && (!of_host || host_sums_find(call, request->opened, &host));
    done = done &&
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
        find_first_calls(call, &request->opened[0], &checks->sides[0]) &&
        find_first_calls(call, &request->opened[1], &checks->sides[1]) &&
        add_trust(call, request, checks) &&
        find_told(call, request, checks) &&
        (!request->shapes || find_work(call, request, checks)) &&
        checks_order(checks, call_stopper(call), &call->failure))
        return true;
    checks_clear(checks);
    return false;
}
