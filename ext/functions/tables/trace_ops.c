/*
** trace_ops: the events of a trace, summed up by name.
*/
#include "base/memory.h"
#include "naming/short_name.h"
#include "functions/call/call_trace.h"

enum { OPS_SHORT_NAME = 5, OPS_SELF_DURATION = 8 };

static const struct table_column columns_of_ops[] = {
    {"rank", "INTEGER", "rank"},
    {"iteration", "INTEGER", "number of the step; NULL outside of every step"},
    {"device", "TEXT", "'CPU' or 'GPU'"},
    {"cat", "TEXT", "category"},
    {"name", "TEXT", "name"},
    [OPS_SHORT_NAME] = {"short_name", "TEXT", "trace_short_name(name)"},
    {"counts", "INTEGER", "number of events"},
    {"total_duration", "REAL", "us, sum of their durations"},
    [OPS_SELF_DURATION] = {"self_duration", "REAL",
                           "us, sum of their durations without nested events"},
    {"mean_duration", "REAL", "us, mean duration"},
    {"min_duration", "REAL", "us, shortest duration"},
    {"max_duration", "REAL", "us, longest duration"},
};

static const unsigned char served_of_ops[COUNT_OF(columns_of_ops)] = {
    [OPS_SHORT_NAME] = ON_DEMAND, [OPS_SELF_DURATION] = ON_DEMAND};

enum { OPS_DEVICE_TYPE = 3 };

static const struct argument arguments_of_ops[] = {
    {TRACE_ARGUMENT},
    {RANKS_ARGUMENT},
    {"iterations", TAKES_ITERATIONS, false, STEADY_STEPS_TEXT},
    {DEVICE_TYPE_ARGUMENT},
    {STEPS_ARGUMENT},
};

static bool sum_up_ops(struct call *call, struct summary *summary)
{
    static const struct call_trace_request request = {.use = TRACE_FOR_STEPS};
    const struct stopper *stopper = call_stopper(call);
    struct call_trace opened;
    enum device_type device_type;
    if (!argument_device_type(call, OPS_DEVICE_TYPE, &device_type) ||
        !call_trace_open(call, &request, &opened))
        return false;
    struct summary_request sums = {.trace = &opened.trace,
                                   .choice = &opened.steps,
                                   .device_type = device_type,
                                   .grouping = BY_EVERYTHING,
                                   .self = call_wants(call, OPS_SELF_DURATION)};
    bool done = summary_make(summary, &sums, stopper, &call->failure);
    call_trace_close(&opened);
    return done && summary_sort(summary, stopper, &call->failure);
}

/* Adds a row. `short_name` has room for the longest name; NULL: the query does not need it. */
static void add_op(struct result *result, const struct names *names, const struct summary_row *row,
                   char *short_name)
{
    const struct name *name = &names->items[row->name];
    result_integer(result, row->rank);
    result_number(result, row->iteration);
    result_string(result, row->seen == SEEN_ON_DEVICE ? "GPU" : "CPU");
    result_name(result, names, row->cat);
    result_name(result, names, row->name);
    if (short_name)
        result_text(result, short_name, name_short(name->text, name->length, short_name));
    else
        result_null(result);
    result_integer(result, row->counts);
    result_real(result, microseconds(row->total));
    result_real(result, microseconds(row->self));
    result_real(result, mean_microseconds(row->total, row->counts));
    result_real(result, microseconds(row->min));
    result_real(result, microseconds(row->max));
}

static int ops_produce(struct call *call, struct rows **rows)
{
    const struct stopper *stopper = call_stopper(call);
    struct summary summary = {.count = 0};
    struct result *result = result_new(call->function->column_count);
    char *short_name = NULL;
    bool done = sum_up_ops(call, &summary);
    if (done && call_wants(call, OPS_SHORT_NAME) &&
        !(short_name = memory_allocate(names_longest(&summary.names) + 1)))
        done = failure_memory(&call->failure);
    for (size_t i = 0; done && i < summary.count; i++) {
        add_op(result, &summary.names, &summary.rows[i], short_name);
        done = stopper_goes_on(stopper, i, &call->failure);
    }
    memory_free(short_name);
    summary_clear(&summary);
    return result_finish(result, call_code(call), rows);
}

const struct table_function trace_ops_function = {
    .name = "trace_ops",
    .family = FAMILY_OPERATORS_AND_KERNELS,
    .question = "How often and how long does each name of one trace run?",
    .text = "events of a trace summed up by rank, iteration, device, category and name",
    COLUMNS(columns_of_ops),
    ARGUMENTS(arguments_of_ops),
    .serves = served_of_ops,
    .produce = ops_produce,
};
