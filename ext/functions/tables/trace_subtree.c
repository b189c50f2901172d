/*
** trace_subtree: events, with the events nested in them and the device work that they launched.
*/
#include "analysis/sums/subtree.h"
#include "base/memory.h"
#include "functions/call/call_trace.h"

static const struct table_column columns_of_subtree[] = {
    {"rank", "INTEGER", "rank"},
    {"file", "TEXT", "path"},
    {"event", "INTEGER", "position in the file's traceEvents"},
    {"parent", "INTEGER",
     "event that encloses it on its thread; for device work, its launch; NULL for a root"},
    {"depth", "INTEGER", "0 for a root"},
    {"device", "TEXT", "'CPU' or 'GPU'"},
    {"cat", "TEXT", "category"},
    {"name", "TEXT", "name"},
    {"ts", "REAL", "us from the earliest event of the rank"},
    {"dur", "REAL", "us"},
    {"num_kernels", "INTEGER",
     "kernels, copies and fills launched in the subtree of the event; 1 for device work"},
    {"kernel_dur_sum", "REAL", "us, sum of the durations of that work"},
    {"first_kernel_start", "REAL",
     "us from the earliest event of the rank; NULL without device work"},
    {"last_kernel_end", "REAL", "us from the earliest event of the rank; NULL without device work"},
    {"kernel_span", "REAL",
     "us from first_kernel_start to last_kernel_end; NULL without device work"},
};

enum { SUBTREE_ROOT = 2 };

static const struct argument arguments_of_subtree[] = {
    {TRACE_ARGUMENT},
    {RANKS_ARGUMENT},
    {"root", TAKES_INTEGERS, false,
     "event number of trace_events, or a JSON array of them; default every outermost event"},
};

/* Adds us since the origin of the rank. */
static void add_time(struct result *result, int64_t time, int64_t origin)
{
    if (time == NUMBER_NONE || origin == NUMBER_NONE)
        result_null(result);
    else
        result_real(result, microseconds((wide_time)time - origin));
}

static void add_node(struct result *result, const struct trace_member *member, int64_t origin,
                     const struct subtree *tree, const struct subtree_node *node)
{
    const struct trace_file *file = member->file;
    const struct columns *columns = &file->columns;
    uint32_t row = node->row;
    bool device = kind_is_device(columns->kind[row]);
    result_integer(result, member->rank);
    result_string(result, file->shown);
    result_integer(result, columns->event[row]);
    result_number(result, node->parent == NODE_NONE
                              ? NUMBER_NONE
                              : columns->event[tree->nodes[node->parent].row]);
    result_integer(result, node->depth);
    result_string(result, device ? "GPU" : "CPU");
    result_name(result, &file->names, row_place(columns, row)->cat);
    result_name(result, &file->names, columns->name[row]);
    add_time(result, columns->ts[row], origin);
    add_time(result, columns->dur[row], 0);
    result_integer(result, node->kernels);
    result_real(result, microseconds(node->time));
    add_time(result, node->first, origin);
    add_time(result, node->last, origin);
    if (node->kernels > 0)
        result_real(result, microseconds((wide_time)node->last - node->first));
    else
        result_null(result);
}

/* Adds the trees of a file. Sets a flag for each root in the file. */
static bool add_trees(struct call *call, struct result *result, const struct call_trace *opened,
                      size_t i, const struct selection *roots, bool *found)
{
    const struct trace_member *member = &opened->trace.members[i];
    const struct stopper *stopper = call_stopper(call);
    struct subtree tree;
    if (!member->chosen)
        return true;
    bool list = roots->kind == SELECT_LIST;
    bool done = subtree_list(&tree, member->file, list ? roots->values : NULL, roots->count,
                             stopper, &call->failure);
    for (size_t r = 0; done && list && r < roots->count; r++)
        found[r] |= subtree_root(member->file, roots->values[r]) != ROW_NONE;
    for (size_t n = 0; done && n < tree.count; n++) {
        add_node(result, member, opened->trace.origins[member->rank_index], &tree, &tree.nodes[n]);
        done = stopper_goes_on(stopper, n, &call->failure);
    }
    subtree_clear(&tree);
    return done;
}

static int subtree_produce(struct call *call, struct rows **rows)
{
    static const struct call_trace_request request = {.use = TRACE_FOR_DIFF};
    struct call_trace opened;
    struct selection roots;
    struct result *result = result_new(call->function->column_count);
    bool done = argument_selection(call, SUBTREE_ROOT, &roots);
    bool *found = memory_zeroed(roots.count + 1, sizeof *found);
    bool open = done && (found || failure_memory(&call->failure)) &&
                call_trace_open(call, &request, &opened);
    done = open;
    for (size_t i = 0; done && i < opened.trace.count; i++)
        done = add_trees(call, result, &opened, i, &roots, found);
    for (size_t r = 0; done && r < roots.count; r++)
        if (!found[r])
            done = failure_set(&call->failure, FAILURE_REQUEST, "the trace has no event %lld",
                               (long long)roots.values[r]);
    if (open)
        call_trace_close(&opened);
    memory_free(found);
    selection_clear(&roots);
    return result_finish(result, call_code(call), rows);
}

const struct table_function trace_subtree_function = {
    .name = "trace_subtree",
    .family = FAMILY_OPERATORS_AND_KERNELS,
    .question = "What is nested in an event, and what did it launch?",
    .text =
        "events with everything nested in them and the device work that they launched, with counts "
        "and times",
    COLUMNS(columns_of_subtree),
    ARGUMENTS(arguments_of_subtree),
    .typical_rows = 100000,
    .produce = subtree_produce,
};
