/*
** trace_graph_diff: the replayed graphs of two traces, compared kernel by kernel.
*/
#include "analysis/sums/align.h"
#include "analysis/sums/graph_sides.h"
#include "base/memory.h"
#include "functions/call/graph_args.h"

static const struct table_column columns_of_graph_diff[] = {
    {"graph", "INTEGER", "0, 1, ...: number of the pair of graphs, longest total time first"},
    {"control_position", "INTEGER", "position within the replays of control; NULL if added"},
    {"test_position", "INTEGER", "position within the replays of test; NULL if deleted"},
    {"name", "TEXT", "stable name of the device work"},
    {"change", "TEXT", "'same', 'deleted' or 'added'"},
    {"control_time", "REAL", "us, mean over the replays of control; 0 if added"},
    {"test_time", "REAL", "us, mean over the replays of test; 0 if deleted"},
    {"diff_time", "REAL", "us, test minus control"},
};

static const struct argument arguments_of_graph_diff[] = {
    {CONTROL_ARGUMENT},
    {TEST_ARGUMENT},
    SELECTIONS_OF_STEPS,
    {STEPS_ARGUMENT},
};

/* Collects the graphs of one side. */
static bool add_side(struct call *call, struct graph_sides *sides, int side,
                     const struct call_trace *opened)
{
    struct graph_args args;
    bool done = graph_args_read(call, &opened->trace, true, &args);
    for (size_t i = 0; done && i < opened->trace.count; i++)
        done = !opened->trace.members[i].chosen ||
               graph_sides_add(sides, side, &opened->trace, i, call_trace_steps(opened, i),
                               args.nodes[i], call_stopper(call), &call->failure);
    graph_args_close(&args);
    return done;
}

/* Returns the time of a position over all replays in ns; 0 on a side without it. */
static wide_time time_of(const struct graph_side *side, const struct graph_group *group, size_t at)
{
    return at == ALIGN_NONE ? 0 : side->times[group->first + at];
}

static void add_row(struct result *result, const struct graph_sides *sides, size_t graph,
                    const struct graph_pair *pair, const struct aligned *row)
{
    const size_t at[2] = {row->a, row->b};
    int named = row->b == ALIGN_NONE ? 0 : 1;
    wide_time time[2];
    int64_t replays[2];
    for (int side = 0; side < 2; side++) {
        time[side] = time_of(&sides->sides[side], pair->group[side], at[side]);
        replays[side] = pair->group[side] ? pair->group[side]->replays : 1;
    }
    result_integer(result, (int64_t)graph);
    for (int side = 0; side < 2; side++)
        result_number(result, at[side] == ALIGN_NONE ? NUMBER_NONE : (int64_t)at[side]);
    result_name(result, &sides->names,
                sides->sides[named].names[pair->group[named]->first + at[named]]);
    result_string(result, row->a == ALIGN_NONE   ? "added"
                          : row->b == ALIGN_NONE ? "deleted"
                                                 : "same");
    for (int side = 0; side < 2; side++)
        result_real(result, mean_microseconds(time[side], replays[side]));
    result_real(result, mean_difference(time[0], replays[0], time[1], replays[1]));
}

/* Adds the rows of a pair of graphs. */
static bool add_pair(struct call *call, struct result *result, const struct graph_sides *sides,
                     size_t graph, const struct graph_pair *pair)
{
    const uint32_t *names[2] = {NULL, NULL};
    size_t length[2] = {0, 0}, count = 0;
    for (int side = 0; side < 2; side++)
        if (pair->group[side]) {
            names[side] = sides->sides[side].names + pair->group[side]->first;
            length[side] = pair->group[side]->count;
        }
    struct aligned *rows = memory_zeroed(length[0] + length[1], sizeof *rows);
    bool done = rows ? align(names[0], length[0], names[1], length[1], rows, &count,
                             call_stopper(call), &call->failure)
                     : failure_memory(&call->failure);
    for (size_t i = 0; done && i < count; i++)
        add_row(result, sides, graph, pair, &rows[i]);
    memory_free(rows);
    return done;
}

static int graph_diff_produce(struct call *call, struct rows **rows)
{
    struct call_trace opened[2];
    struct graph_sides sides = {.names = {0}};
    struct graph_pair *pairs = NULL;
    size_t count = 0;
    struct result *result = result_new(call->function->column_count);
    bool done =
        call_sides_open(call, opened);
    if (done) {
        for (int side = 0; side < 2; side++) {
            done = done && add_side(call, &sides, side, &opened[side]);
            call_trace_close(&opened[side]);
        }
        done = done && graph_sides_pair(&sides, &pairs, &count, call_stopper(call), &call->failure);
    }
    for (size_t i = 0; done && i < count; i++)
        done = add_pair(call, result, &sides, i, &pairs[i]);
    memory_free(pairs);
    graph_sides_clear(&sides);
    return result_finish(result, call_code(call), rows);
}

const struct table_function trace_graph_diff_function = {
    .name = "trace_graph_diff",
    .family = FAMILY_OPERATORS_AND_KERNELS,
    .question = "Which kernels changed within replayed CUDA graphs?",
    .text =
        "the graphs that two traces replay, compared kernel by kernel: added, deleted, and the "
        "same",
    COLUMNS(columns_of_graph_diff),
    ARGUMENTS(arguments_of_graph_diff),
    .produce = graph_diff_produce,
};
