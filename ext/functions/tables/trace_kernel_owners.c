/*
** trace_kernel_owners: device work, with the operators, modules and annotations that launched it.
*/
#include "analysis/sums/owners.h"
#include "base/memory.h"
#include "file/kernel_type.h"
#include "naming/short_name.h"
#include "functions/call/call_trace.h"
#include "functions/call/graph_args.h"
#include "functions/args/collective_args.h"
#include "functions/args/kernel_work.h"
#include "functions/args/shapes.h"

enum {
    OWNERS_OP = 11,
    OWNERS_SHAPES = OWNERS_OP + LABEL_LEVELS,
    OWNERS_TYPES,
    OWNERS_POSITION,
    OWNERS_GPU_ANNOTATION,
    OWNERS_OP_EVENT,
    OWNERS_FLOPS,
    OWNERS_BYTES,
    OWNERS_COLLECTIVE,
    OWNERS_GROUP,
    OWNERS_GROUP_SIZE,
    OWNERS_DTYPE,
    OWNERS_COLLECTIVE_BYTES,
    OWNERS_ALGORITHM,
    OWNERS_PROTOCOL,
    OWNERS_CHANNELS
};

static const struct table_column columns_of_owners[] = {
    {"rank", "INTEGER", "rank"},
    {"iteration", "INTEGER", "number of the step; NULL outside of every step"},
    {"file", "TEXT", "path"},
    {"event", "INTEGER", "position in the file's traceEvents"},
    {"name", "TEXT", "stable name"},
    {"cat", "TEXT", "category"},
    {"kernel_type", "TEXT", "'COMPUTATION', 'COMMUNICATION' or 'MEMORY'"},
    {"stream", "INTEGER", "stream"},
    {"ts", "REAL", "us from the earliest event of the rank"},
    {"dur", "REAL", "us"},
    {"launch", "INTEGER", "event of the call that launched it; NULL if not recorded"},
    {"op", "TEXT", "innermost operator around the launch, else the innermost event"},
    {"top_op", "TEXT", "outermost operator around the launch, else the outermost event"},
    {"module", "TEXT", "innermost nn.Module around the launch, else top_op"},
    {"annotation", "TEXT", "innermost user annotation around the launch; NULL: none"},
    {"shapes", "TEXT", "JSON, Input Dims of op; NULL if not recorded"},
    {"types", "TEXT", "JSON, Input type of op; NULL if not recorded"},
    {"graph_position", "INTEGER", "0, 1, ... within the replay of a graph; else NULL"},
    {"gpu_annotation", "TEXT",
     "full name of the innermost device annotation around its start, on the same pid and tid; "
     "NULL: none"},
    {"op_event", "INTEGER", "event of op; NULL if the capture of a graph supplied op"},
    {"flops", "INTEGER",
     "FLOPs: its share of the operator's FLOPs, in proportion to duration; NULL: not known"},
    {"bytes", "INTEGER",
     "bytes that the operator reads and writes, shared in the same way; NULL: not known"},
    {"collective", "TEXT",
     "kind of collective, such as all_reduce or all_gather; NULL: not known, or not a collective"},
    {"process_group", "TEXT",
     "name of the process group, else its description or its ranks; NULL: not a collective"},
    {"group_size", "INTEGER", "ranks in the process group"},
    {"dtype", "TEXT", "element type as PyTorch names it, such as BFloat16"},
    {"collective_bytes", "INTEGER", "bytes that its rank contributes or receives"},
    {"algorithm", "TEXT", "algorithm in the kernel's name, such as RING or TREE"},
    {"protocol", "TEXT",
     "protocol in the kernel's name: LL, LL128 or SIMPLE; since NCCL 2.19 always LL"},
    {"channels", "INTEGER", "NCCL channels: the first number of its grid"},
};

static const unsigned char served_of_owners[COUNT_OF(columns_of_owners)] = {
    [OWNERS_OP] = ON_DEMAND,
    [OWNERS_OP + LEVEL_TOP_OP] = ON_DEMAND,
    [OWNERS_OP + LEVEL_MODULE] = ON_DEMAND,
    [OWNERS_OP + LEVEL_ANNOTATION] = ON_DEMAND,
    [OWNERS_SHAPES] = ON_DEMAND,
    [OWNERS_TYPES] = ON_DEMAND,
    [OWNERS_POSITION] = ON_DEMAND,
    [OWNERS_GPU_ANNOTATION] = ON_DEMAND,
    [OWNERS_OP_EVENT] = ON_DEMAND,
    [OWNERS_FLOPS] = ON_DEMAND,
    [OWNERS_BYTES] = ON_DEMAND,
    [OWNERS_COLLECTIVE] = ON_DEMAND,
    [OWNERS_GROUP] = ON_DEMAND,
    [OWNERS_GROUP_SIZE] = ON_DEMAND,
    [OWNERS_DTYPE] = ON_DEMAND,
    [OWNERS_COLLECTIVE_BYTES] = ON_DEMAND,
    [OWNERS_ALGORITHM] = ON_DEMAND,
    [OWNERS_PROTOCOL] = ON_DEMAND,
    [OWNERS_CHANNELS] = ON_DEMAND};

static const struct argument arguments_of_owners[] = {
    {TRACE_ARGUMENT},
    {RANKS_ARGUMENT},
    {"iterations", TAKES_ITERATIONS, false, STEADY_STEPS_TEXT},
    {"capture", TAKES_CAPTURE, false, CAPTURE_TEXT},
    {STEPS_ARGUMENT},
};

/* The file whose device work is being added. */
struct owners_file {
    struct call *call;
    struct result *result;
    const struct trace_member *member;
    int64_t origin; /* ns: the origin of its rank */
    struct owners owners;
    struct names texts;      /* stable names, shapes and types */
    uint32_t *stable;        /* by name id: the id of its stable name, or NAME_NONE: not made yet */
    uint32_t *shape, *types; /* by row of an owner: ids of its shapes and types; may be NULL */
    char *scratch;           /* room for the longest name of the file */
    uint32_t *position; /* by row: position in a graph replay; UINT32_MAX: none; may be NULL */
    struct work *work;  /* by row; may be NULL */
    const struct collective_rows *collectives; /* may be NULL */
    size_t next_collective, next_group;
};

static void add_stable_name(struct owners_file *of, uint32_t id)
{
    const struct name *name = id == NAME_NONE ? NULL : &of->member->file->names.items[id];
    if (name && of->stable[id] == NAME_NONE) {
        of->stable[id] = names_intern(&of->texts, of->scratch,
                                      name_stable(name->text, name->length, of->scratch));
        if (of->stable[id] == NAME_NONE)
            result_lost(of->result);
    }
    result_name(of->result, &of->texts, name ? of->stable[id] : NAME_NONE);
}

/* Adds the columns from OWNERS_COLLECTIVE on. */
static void add_collective(struct owners_file *of, uint32_t row,
                           const struct collective_row *collective)
{
    const struct trace_file *file = of->member->file;
    const struct name *name = &file->names.items[file->columns.name[row]];
    if (!collective) {
        result_nulls(of->result, OWNERS_CHANNELS + 1 - OWNERS_COLLECTIVE);
        return;
    }
    result_string(of->result, collective_name(collective->collective));
    result_name(of->result, &file->names, collective_group(file, row, &of->next_group));
    result_number(of->result, collective->group_size);
    result_name(of->result, &of->collectives->dtypes, collective->dtype);
    result_number(of->result, collective->bytes);
    result_string(of->result, collective_algorithm(name));
    result_string(of->result, collective_protocol(name));
    result_number(of->result, collective->channels);
}

static void add_owner(struct owners_file *of, const struct owner *owner)
{
    const struct trace_file *file = of->member->file;
    const struct columns *columns = &file->columns;
    struct kernel_types *types = &of->call->connection->kernel_types;
    struct result *result = of->result;
    uint32_t row = owner->row, iteration = step_of(of->member->steps, row),
             link = columns->link[row];
    uint32_t op = owner->label[LEVEL_OP];
    result_integer(result, of->member->rank);
    result_number(result,
                  iteration == STEP_NONE ? NUMBER_NONE : member_iteration(of->member, iteration));
    result_string(result, file->shown);
    result_integer(result, columns->event[row]);
    add_stable_name(of, columns->name[row]);
    result_name(result, &file->names, row_place(columns, row)->cat);
    result_string(result, kernel_type_name(kernel_types_row(types, file, row)));
    result_number(result, row_place(columns, row)->stream);
    if (columns->ts[row] == NUMBER_NONE || of->origin == NUMBER_NONE)
        result_null(result);
    else
        result_real(result, microseconds((wide_time)columns->ts[row] - of->origin));
    result_real(result, microseconds(columns->dur[row]));
    result_number(result, link == ROW_NONE ? NUMBER_NONE : columns->event[link]);
    for (int level = 0; level < LABEL_LEVELS; level++) {
        uint32_t label = owner->label[level], in_graph = graph_name(&of->owners.graphs, level, row);
        if (in_graph == GRAPH_LABEL)
            add_stable_name(of, label == ROW_NONE ? NAME_NONE : columns->name[label]);
        else
            result_name(result, &of->owners.graphs.texts, in_graph);
    }
    const struct work *work = of->work ? &of->work[row] : NULL;
    if (graph_name(&of->owners.graphs, LEVEL_OP, row) != GRAPH_LABEL) {
        op = ROW_NONE;
        work = NULL; /* F2.3 */
    }
    result_name(result, &of->texts, op == ROW_NONE || !of->shape ? NAME_NONE : of->shape[op]);
    result_name(result, &of->texts, op == ROW_NONE || !of->types ? NAME_NONE : of->types[op]);
    result_number(result, of->position && of->position[row] != UINT32_MAX ? of->position[row]
                                                                          : NUMBER_NONE);
    result_name(result, &file->names,
                owner->gpu_annotation == ROW_NONE ? NAME_NONE
                                                  : columns->name[owner->gpu_annotation]);
    result_number(result, op == ROW_NONE ? NUMBER_NONE : columns->event[op]);
    result_number(result, work ? work->flops : NUMBER_NONE);
    result_number(result, work ? work->bytes : NUMBER_NONE);
    add_collective(of, row, collective_rows_at(of->collectives, row, &of->next_collective));
}

/* Reads the shapes of the operators that own work, and the types if `types`. */
static bool read_owner_shapes(struct owners_file *of, bool types)
{
    struct trace_file *file = of->member->file;
    of->shape = memory_filled(file->columns.count, sizeof *of->shape);
    of->types = types ? memory_filled(file->columns.count, sizeof *of->types) : NULL;
    if (!of->shape || (types && !of->types))
        return failure_memory(&of->call->failure);
    for (size_t i = 0; i < of->owners.count; i++)
        if (of->owners.items[i].label[LEVEL_OP] != ROW_NONE)
            of->shape[of->owners.items[i].label[LEVEL_OP]] = 0; /* requested */
    return shapes_read(of->call, file, of->shape, of->types, &of->texts);
}

/* Finds the positions of device work in replays. */
static bool find_positions(struct owners_file *of, const int64_t *nodes)
{
    struct trace_file *file = of->member->file;
    struct replays replays;
    if (!replays_list(&replays, file, nodes, call_stopper(of->call), &of->call->failure))
        return false;
    of->position = memory_filled(file->columns.count, sizeof *of->position);
    for (size_t i = 0; of->position && i < replays.count; i++)
        for (size_t k = 0; k < replays.items[i].count; k++)
            of->position[replays.rows[replays.items[i].first + k]] = (uint32_t)k;
    replays_clear(&replays);
    return of->position || failure_memory(&of->call->failure);
}

static void add_owners(struct call *call, struct result *result, const struct call_trace *opened,
                       const struct graph_args *graphs, size_t i)
{
    const struct trace_member *member = &opened->trace.members[i];
    const struct stopper *stopper = call_stopper(call);
    struct failure *failure = &call->failure;
    bool types = call_wants(call, OWNERS_TYPES), shapes = types || call_wants(call, OWNERS_SHAPES);
    unsigned levels = (unsigned)(call->columns >> OWNERS_OP) & ((1u << LABEL_LEVELS) - 1);
    bool position = call_wants(call, OWNERS_POSITION);
    if (call_wants(call, OWNERS_OP_EVENT) || shapes)
        levels |= 1u << LEVEL_OP;
    if (call_wants(call, OWNERS_GPU_ANNOTATION))
        levels |= OWNER_GPU_ANNOTATION;
    bool work = call_wants(call, OWNERS_FLOPS) || call_wants(call, OWNERS_BYTES);
    bool collectives = false;
    for (int column = OWNERS_COLLECTIVE; column <= OWNERS_CHANNELS; column++)
        collectives = collectives || call_wants(call, column);
    const struct graph_knowledge knowledge = graph_args_knowledge(graphs);
    const struct graph_member known = graph_member_of(&opened->trace, i, &knowledge);
    if (!member->chosen)
        return;
    struct owners_file of = {.call = call,
                             .result = result,
                             .member = member,
                             .origin = opened->trace.origins[member->rank_index],
                             .stable = memory_filled(member->file->names.count, sizeof *of.stable),
                             .scratch = memory_allocate(names_longest(&member->file->names) + 1)};
    bool done = ((of.scratch && of.stable) || failure_memory(failure)) &&
                owners_find(&of.owners, &known, call_trace_steps(opened, i), levels, stopper,
                            failure) &&
                (!shapes || read_owner_shapes(&of, types)) &&
                (!position || find_positions(&of, known.nodes)) &&
                (!work || (of.work = kernel_work_find(call, member))) &&
                (!collectives || (of.collectives = collective_args_find(call, member->file)));
    for (size_t owner = 0; done && owner < of.owners.count; owner++) {
        add_owner(&of, &of.owners.items[owner]);
        done = stopper_goes_on(stopper, owner, failure);
    }
    memory_free(of.scratch);
    memory_free(of.stable);
    memory_free(of.shape);
    memory_free(of.types);
    memory_free(of.position);
    memory_free(of.work);
    names_clear(&of.texts);
    owners_clear(&of.owners);
}

static int owners_produce(struct call *call, struct rows **rows)
{
    static const struct call_trace_request request = {.use = TRACE_FOR_DIFF};
    struct call_trace opened;
    struct graph_args graphs = {.captured = false};
    struct result *result = result_new(call->function->column_count);
    bool open = call_trace_open(call, &request, &opened) &&
                graph_args_read(call, &opened.trace, call_wants(call, OWNERS_POSITION), &graphs);
    for (size_t i = 0; open && i < opened.trace.count && call_code(call) == SQLITE_OK; i++)
        add_owners(call, result, &opened, &graphs, i);
    graph_args_close(&graphs);
    call_trace_close(&opened);
    return result_finish(result, call_code(call), rows);
}

const struct table_function trace_kernel_owners_function = {
    .name = "trace_kernel_owners",
    .family = FAMILY_OPERATORS_AND_KERNELS,
    .question = "Which operator, module and shapes launched each kernel?",
    .text =
        "kernels, copies and fills, each with the operator, module and annotation that launched it",
    COLUMNS(columns_of_owners),
    ARGUMENTS(arguments_of_owners),
    .serves = served_of_owners,
    .typical_rows = 100000,
    .produce = owners_produce,
};
