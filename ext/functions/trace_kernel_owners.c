/*
** trace_kernel_owners: device work, with what launched it.
*/
#include <string.h>

#include "../analysis/owners.h"
#include "../analysis/summary.h"
#include "../sqlite/arguments.h"
#include "../sqlite/registry.h"
#include "../trace/kernel_type.h"
#include "../trace/short_name.h"
#include "shapes.h"

SQLITE_EXTENSION_INIT3

#include "../reader/memory.h"

enum { OWNERS_OP = 11, OWNERS_SHAPES = OWNERS_OP + OWNER_LEVELS };

static const struct column columns_of_owners[] = {
    {"rank", "INTEGER", "rank"},
    {"iteration", "INTEGER", "number of the ProfilerStep; NULL outside of every step"},
    {"file", "TEXT", "path"},
    {"event", "INTEGER", "position in the file's traceEvents"},
    {"name", "TEXT", "stable name"},
    {"cat", "TEXT", "category"},
    {"kernel_type", "TEXT", "COMPUTATION, COMMUNICATION or MEMORY"},
    {"stream", "INTEGER", "stream"},
    {"ts", "REAL", "us from the earliest event of the rank"},
    {"dur", "REAL", "us"},
    {"launch", "INTEGER", "event of the call that launched it"},
    {"op", "TEXT", "innermost operator around the launch, else the innermost event"},
    {"top_op", "TEXT", "outermost operator around the launch, else the outermost event"},
    {"module", "TEXT", "innermost nn.Module around the launch, else top_op"},
    {"annotation", "TEXT", "innermost user annotation around the launch"},
    {"shapes", "TEXT", "JSON, Input Dims of op"},
};

static const unsigned char served_of_owners[COUNT_OF(columns_of_owners)] = {
    [OWNERS_OP] = ON_DEMAND,
    [OWNERS_OP + LEVEL_TOP_OP] = ON_DEMAND,
    [OWNERS_OP + LEVEL_MODULE] = ON_DEMAND,
    [OWNERS_OP + LEVEL_ANNOTATION] = ON_DEMAND,
    [OWNERS_SHAPES] = ON_DEMAND};

static const struct argument arguments_of_owners[] = {
    {"trace", "TEXT", true, "directory, file, pattern or JSON array of these"},
    {"ranks", "", false, "integer, JSON array or 'all'; default the lowest"},
    {"iterations", "", false, "integer, JSON array, 'all' or 'steady'; default 'steady'"},
};

/* A file whose rows are added. */
struct adding {
    struct call *call;
    struct result *result;
    const struct trace *trace;
    const struct trace_member *member;
    struct owners owners;
    struct names shapes;
    uint32_t *shape; /* by row of the file: its id, if it is the op of some work; or NULL */
    char *scratch;   /* room for the longest name of the file */
};

static void add_name(const struct adding *adding, uint32_t id, bool stable)
{
    const struct name *name;
    if (id == NAME_NONE) {
        result_null(adding->result);
        return;
    }
    name = &adding->member->file->names.items[id];
    if (stable)
        result_text(adding->result, adding->scratch,
                    name_stable(name->text, name->length, adding->scratch));
    else
        result_text(adding->result, name->text, name->length);
}

static void add_owner(const struct adding *adding, const struct owner *owner)
{
    const struct trace_file *file = adding->member->file;
    const struct columns *columns = &file->columns;
    struct result *result = adding->result;
    uint32_t row = owner->row, iteration = columns->iteration[row], link = columns->link[row];
    int64_t origin = adding->trace->origins[adding->member->rank_index];
    const struct name *name = &file->names.items[columns->name[row]];
    const struct name *cat =
        columns->cat[row] == NAME_NONE ? NULL : &file->names.items[columns->cat[row]];
    result_integer(result, adding->member->rank);
    result_integer_if(result, iteration == STEP_NONE ? 0 : file->iterations[iteration],
                      iteration != STEP_NONE);
    result_string(result, adding->member->file->shown);
    result_integer(result, columns->event[row]);
    add_name(adding, columns->name[row], true);
    add_name(adding, columns->cat[row], false);
    result_string(result,
                  kernel_types_find(&adding->call->database->kernel_types, name->text, name->length,
                                    cat ? cat->text : NULL, cat ? cat->length : 0));
    result_integer_if(result, columns->stream[row], columns->stream[row] != NUMBER_NONE);
    if (columns->ts[row] == NUMBER_NONE || origin == NUMBER_NONE)
        result_null(result);
    else
        result_real(result, microseconds((wide_time)columns->ts[row] - origin));
    result_real(result, microseconds(columns->dur[row]));
    result_integer_if(result, link == ROW_NONE ? 0 : columns->event[link], link != ROW_NONE);
    for (int level = 0; level < OWNER_LEVELS; level++) {
        uint32_t label = owner->label[level];
        add_name(adding, label == ROW_NONE ? NAME_NONE : columns->name[label], true);
    }
    uint32_t op = owner->label[LEVEL_OP];
    uint32_t shape = op == ROW_NONE || !adding->shape ? NAME_NONE : adding->shape[op];
    if (shape == NAME_NONE)
        result_null(result);
    else
        result_text(result, adding->shapes.items[shape].text, adding->shapes.items[shape].length);
}

/* The shapes of the operators that own work. */
static int read_shapes(struct adding *adding)
{
    struct trace_file *file = adding->member->file;
    const struct columns *columns = &file->columns;
    struct label_categories categories = label_categories_of(file);
    size_t size = (columns->count + 1) * sizeof *adding->shape, count = 0;
    uint32_t *rows = memory_allocate((adding->owners.count + 1) * sizeof *rows);
    uint32_t *ids = memory_allocate((adding->owners.count + 1) * sizeof *ids);
    int code = SQLITE_NOMEM;
    adding->shape = memory_allocate(size);
    if (!rows || !ids || !adding->shape)
        goto cleanup;
    memset(adding->shape, 0xff, size);
    for (size_t i = 0; i < adding->owners.count; i++) {
        uint32_t op = adding->owners.items[i].label[LEVEL_OP];
        if (op != ROW_NONE && label_is_operator(&categories, columns->cat[op]))
            adding->shape[op] = 0; /* wanted */
    }
    for (uint32_t row = 0; row < columns->count; row++)
        if (adding->shape[row] == 0)
            rows[count++] = row;
    code = shapes_read(adding->call, file, rows, count, &adding->shapes, ids);
    for (size_t i = 0; code == SQLITE_OK && i < count; i++)
        adding->shape[rows[i]] = ids[i];
cleanup:
    memory_free(rows);
    memory_free(ids);
    return code;
}

static int add_file(struct adding *adding, const struct step_choice *choice,
                    const unsigned char *chosen)
{
    const struct stopper *stopper = &adding->call->database->cache.stopper;
    const struct trace_file *file = adding->member->file;
    uint64_t columns = adding->call->columns;
    unsigned levels = (unsigned)(columns >> OWNERS_OP) & ((1u << OWNER_LEVELS) - 1);
    bool shapes = columns >> OWNERS_SHAPES & 1;
    int code = SQLITE_ERROR;
    adding->scratch = memory_allocate(names_longest(&file->names) + 1);
    if (!adding->scratch)
        code = SQLITE_NOMEM;
    else if (owners_find(&adding->owners, file, choice->everything ? NULL : chosen,
                         levels | (unsigned)shapes << LEVEL_OP, stopper, &adding->call->failure))
        code = shapes ? read_shapes(adding) : SQLITE_OK;
    for (size_t i = 0; code == SQLITE_OK && i < adding->owners.count; i++) {
        if (stopper_goes_on(stopper, i, &adding->call->failure))
            add_owner(adding, &adding->owners.items[i]);
        else
            code = SQLITE_ERROR;
    }
    memory_free(adding->scratch);
    memory_free(adding->shape);
    names_clear(&adding->shapes);
    owners_clear(&adding->owners);
    adding->scratch = NULL;
    adding->shape = NULL;
    return code;
}

static int owners_produce(struct call *call, struct rows **rows)
{
    struct trace_paths paths = {NULL, 0, 0};
    struct trace trace = {.count = 0};
    struct selection ranks = {.kind = SELECT_DEFAULT}, iterations = {.kind = SELECT_DEFAULT};
    struct step_choice choice = {.everything = false};
    struct adding adding = {.call = call, .trace = &trace};
    struct cache *cache = &call->database->cache;
    struct trace_request request = {TRACE_FOR_DIFF, NULL, &ranks, "the trace"};
    int code = SQLITE_ERROR;
    bool done = argument_selection(call, 1, false, &ranks) &&
                argument_selection(call, 2, true, &iterations) && argument_trace(call, 0, &paths);
    if (iterations.kind == SELECT_DEFAULT)
        iterations.kind = SELECT_STEADY;
    done = done && trace_open(&trace, &paths, cache, &request, &call->failure) &&
           trace_choose_steps(&trace, &iterations, "the trace", &choice, &call->failure);
    if (done) {
        adding.result = result_new(call->function->column_count);
        code = SQLITE_OK;
    }
    for (size_t i = 0; code == SQLITE_OK && i < trace.count; i++) {
        adding.member = &trace.members[i];
        if (adding.member->chosen)
            code = add_file(&adding, &choice, choice.chosen[i]);
    }
    if (code == SQLITE_OK) {
        *rows = result_finish(adding.result);
        adding.result = NULL;
        code = *rows ? SQLITE_OK : SQLITE_NOMEM;
    }
    result_free(adding.result);
    step_choice_clear(&trace, &choice);
    trace_close(&trace);
    paths_clear(&paths);
    selection_clear(&ranks);
    selection_clear(&iterations);
    return code;
}

const struct table_function trace_kernel_owners_function = {
    .name = "trace_kernel_owners",
    .text = "device work, with the operator, module and annotation that launched it",
    .columns = columns_of_owners,
    .column_count = COUNT_OF(columns_of_owners),
    .arguments = arguments_of_owners,
    .argument_count = COUNT_OF(arguments_of_owners),
    .serves = served_of_owners,
    .reads_files = true,
    .typical_rows = 100000,
    .produce = owners_produce,
};
