/*
** trace_ops: what ran in a trace, summed up. trace_diff: two of these side by
** side, as HTA's TraceDiff.compare_traces has them.
*/
#include "../analysis/summary.h"
#include "../sqlite/arguments.h"
#include "../sqlite/registry.h"
#include "../trace/short_name.h"

SQLITE_EXTENSION_INIT3

#include "../reader/memory.h"

enum { OPS_SHORT_NAME = 5, OPS_SELF_DURATION = 8, DIFF_SELF_DURATION = 10 };

static const struct column columns_of_ops[] = {
    {"rank", "INTEGER", "rank"},
    {"iteration", "INTEGER", "number of the ProfilerStep; NULL outside of every step"},
    {"device", "TEXT", "CPU or GPU"},
    {"cat", "TEXT", "category"},
    {"name", "TEXT", "name"},
    {"short_name", "TEXT", "trace_short_name(name)"},
    {"counts", "INTEGER", "events"},
    {"total_duration", "REAL", "us, the sum of their durations"},
    {"self_duration", "REAL", "us, of it, not in events nested in them (T5)"},
    {"mean_duration", "REAL", "us"},
    {"min_duration", "REAL", "us"},
    {"max_duration", "REAL", "us"},
};

static const unsigned char served_of_ops[COUNT_OF(columns_of_ops)] = {
    [OPS_SHORT_NAME] = ON_DEMAND, [OPS_SELF_DURATION] = ON_DEMAND};

static const struct argument arguments_of_ops[] = {
    {"trace", "TEXT", true, "directory, file, pattern or JSON array of these"},
    {"ranks", "", false, "integer, JSON array or 'all'; default the lowest"},
    {"iterations", "", false, "integer, JSON array, 'all' or 'steady'; default the lowest step"},
    {"device_type", "TEXT", false, "'ALL', 'CPU' or 'GPU'; default 'ALL'"},
};

static const struct column columns_of_diff[] = {
    {"name", "TEXT", "name of operators and kernels"},
    {"control_counts", "INTEGER", "events in control"},
    {"test_counts", "INTEGER", "events in test"},
    {"control_total_duration", "REAL", "us, sum of their durations in control"},
    {"test_total_duration", "REAL", "us, the same in test"},
    {"diff_counts", "INTEGER", "test minus control"},
    {"diff_duration", "REAL", "us, test minus control"},
    {"counts_change_categories", "TEXT", "+, - or =: the sign of diff_counts"},
    {"counts_change", "TEXT", "of the counts: added, deleted, increased, decreased or same"},
    {"diff_duration_pct", "REAL", "100 x diff_duration / control; NULL when that is 0"},
    {"diff_self_duration", "REAL", "us, test minus control of the time not in nested events (T5)"},
    {"diff_duration_per_step", "REAL", "us a step, test minus control"},
    {"control_counts_per_step", "REAL",
     "control_counts divided by the steps of control; without steps, by its files"},
    {"test_counts_per_step", "REAL", "the same of test"},
    {"control_duration_per_step", "REAL", "us, control_total_duration divided in the same way"},
    {"test_duration_per_step", "REAL", "us, the same of test"},
    {"device", "TEXT", "where the name was seen: CPU, GPU or both; its times are added up"},
};

static const unsigned char served_of_diff[COUNT_OF(columns_of_diff)] = {[DIFF_SELF_DURATION] =
                                                                            ON_DEMAND};

static const struct argument arguments_of_diff[] = {
    {"control", "TEXT", true, "trace to compare with"},
    {"test", "TEXT", true, "trace that is compared"},
    {"control_rank", "", false, "integer, JSON array or 'all'; default the lowest"},
    {"test_rank", "", false, "the same for test"},
    {"control_iteration", "", false,
     "integer, JSON array, 'all' or 'steady'; default the lowest step"},
    {"test_iteration", "", false, "the same for test"},
    {"device_type", "TEXT", false, "'ALL', 'CPU' or 'GPU'; default 'ALL'"},
    {"use_short_name", "INTEGER", false,
     "0 the full name, 1 trace_short_name, 2 trace_stable_name; default 0"},
};

/* A trace to be summed up: which arguments say what of it. */
struct side {
    int trace, ranks, iterations, device_type;
    int use_short_name; /* -1: there is none */
    int self_duration;  /* the column */
    enum trace_use use;
    enum grouping grouping;
    const char *subject;
};

/* Reads a side and sums it up; `*steps` as in struct step_choice. */
static bool summarize(struct call *call, const struct side *side, struct summary *summary,
                      int64_t *steps)
{
    struct trace_paths paths = {NULL, 0, 0};
    struct trace trace = {.count = 0};
    struct selection ranks = {.kind = SELECT_DEFAULT}, iterations = {.kind = SELECT_DEFAULT};
    struct step_choice choice = {.everything = false};
    enum device_type device_type;
    int use_short_name = 0;
    struct trace_request request = {side->use, NULL, &ranks, side->subject};
    struct cache *cache = &call->database->cache;
    bool done = (side->use_short_name < 0 ||
                 argument_use_short_name(call, side->use_short_name, &use_short_name)) &&
                argument_device_type(call, side->device_type, &device_type) &&
                argument_selection(call, side->ranks, false, &ranks) &&
                argument_selection(call, side->iterations, true, &iterations) &&
                argument_trace(call, side->trace, &paths) &&
                trace_open(&trace, &paths, cache, &request, &call->failure) &&
                trace_choose_steps(&trace, &iterations, side->subject, &choice, &call->failure) &&
                summary_make(summary,
                             &(struct summary_request){&trace, &choice, device_type, side->grouping,
                                                       call->columns >> side->self_duration & 1},
                             &cache->stopper, &call->failure);
    if (done && use_short_name > 0)
        done = summary_rename(summary, use_short_name == 1 ? name_short : name_stable,
                              &cache->stopper, &call->failure);
    *steps = choice.steps;
    step_choice_clear(&trace, &choice);
    trace_close(&trace);
    paths_clear(&paths);
    selection_clear(&ranks);
    selection_clear(&iterations);
    return done;
}

static size_t longest_name(const struct summary *summary)
{
    size_t longest = 0;
    for (size_t i = 0; i < summary->names.count; i++)
        if (summary->names.items[i].length > longest)
            longest = summary->names.items[i].length;
    return longest;
}

static const char *seen_on(unsigned seen)
{
    static const char *const words[] = {
        [SEEN_ON_HOST] = "CPU", [SEEN_ON_DEVICE] = "GPU", [SEEN_ON_HOST | SEEN_ON_DEVICE] = "both"};
    return words[seen];
}

/* `short_name` has room for the longest name; NULL: it is not asked for. */
static void add_op(struct result *result, const struct names *names, const struct summary_row *row,
                   char *short_name)
{
    const struct name *name = &names->items[row->name];
    result_integer(result, row->rank);
    result_integer_if(result, row->iteration, row->iteration != NUMBER_NONE);
    result_string(result, seen_on(row->seen));
    if (row->cat == NAME_NONE)
        result_null(result);
    else
        result_text(result, names->items[row->cat].text, names->items[row->cat].length);
    result_text(result, name->text, name->length);
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
    static const struct side side = {
        0, 1, 2, 3, -1, OPS_SELF_DURATION, TRACE_FOR_STEPS, BY_EVERYTHING, "the trace"};
    const struct stopper *stopper = &call->database->cache.stopper;
    struct summary summary = {.count = 0};
    struct result *result = NULL;
    char *short_name = NULL;
    int64_t steps;
    int code = SQLITE_ERROR;
    if (!summarize(call, &side, &summary, &steps) ||
        !summary_sort(&summary, stopper, &call->failure))
        goto cleanup;
    if (call->columns >> OPS_SHORT_NAME & 1 &&
        !(short_name = memory_allocate(longest_name(&summary) + 1))) {
        code = SQLITE_NOMEM;
        goto cleanup;
    }
    result = result_new(call->function->column_count);
    for (size_t i = 0; i < summary.count; i++) {
        if (!stopper_goes_on(stopper, i, &call->failure))
            goto cleanup;
        add_op(result, &summary.names, &summary.rows[i], short_name);
    }
    *rows = result_finish(result);
    result = NULL;
    code = *rows ? SQLITE_OK : SQLITE_NOMEM;
cleanup:
    memory_free(short_name);
    result_free(result);
    summary_clear(&summary);
    return code;
}

const struct table_function trace_ops_function = {
    .name = "trace_ops",
    .text = "events of a trace summed up by rank, iteration, device, category and name",
    .columns = columns_of_ops,
    .column_count = COUNT_OF(columns_of_ops),
    .arguments = arguments_of_ops,
    .argument_count = COUNT_OF(arguments_of_ops),
    .serves = served_of_ops,
    .reads_files = true,
    .produce = ops_produce,
};

/* A name of the two sides; a side that lacks it has a row of zeros. */
struct pair {
    const struct name *name;
    const struct summary_row *control, *test;
};

static wide_time difference(const struct pair *pair)
{
    return pair->test->total - pair->control->total;
}

/* |diff_duration| descending, then name. */
static int pair_order(const void *a, const void *b)
{
    wide_time x = difference(a), y = difference(b);
    x = x < 0 ? -x : x;
    y = y < 0 ? -y : y;
    if (x != y)
        return x > y ? -1 : 1;
    return name_compare(((const struct pair *)a)->name, ((const struct pair *)b)->name);
}

static const char *change_of(const struct pair *pair)
{
    int64_t control = pair->control->counts, test = pair->test->counts;
    if (control == 0)
        return "added";
    if (test == 0)
        return "deleted";
    return test > control ? "increased" : test < control ? "decreased" : "same";
}

static void add_pair(struct result *result, const struct pair *pair, int64_t control_steps,
                     int64_t test_steps)
{
    const struct summary_row *control = pair->control, *test = pair->test;
    int64_t more = test->counts - control->counts;
    result_text(result, pair->name->text, pair->name->length);
    result_integer(result, control->counts);
    result_integer(result, test->counts);
    result_real(result, microseconds(control->total));
    result_real(result, microseconds(test->total));
    result_integer(result, more);
    result_real(result, microseconds(difference(pair)));
    result_text(result, more > 0 ? "+" : more < 0 ? "-" : "=", 1);
    result_string(result, change_of(pair));
    if (control->total == 0)
        result_null(result);
    else
        result_real(result, 100.0 * (double)difference(pair) / (double)control->total);
    result_real(result, microseconds(test->self - control->self));
    result_real(result, mean_difference(control->total, control_steps, test->total, test_steps));
    result_real(result, (double)control->counts / (double)control_steps);
    result_real(result, (double)test->counts / (double)test_steps);
    result_real(result, mean_microseconds(control->total, control_steps));
    result_real(result, mean_microseconds(test->total, test_steps));
    result_string(result, seen_on(control->seen | test->seen));
}

/* Brings the sides together by name; the pairs' names are those of control, or of
** test where control has none. NULL on failure. */
static struct pair *join(const struct summary *control, const struct summary *test, size_t *count,
                         const struct stopper *stopper, struct failure *failure)
{
    static const struct summary_row nothing = {.counts = 0};
    struct pair *pairs = memory_allocate((control->count + test->count + 1) * sizeof *pairs);
    if (!pairs) {
        failure_memory(failure);
        return NULL;
    }
    *count = control->count;
    for (size_t i = 0; i < control->count; i++)
        pairs[i] = (struct pair){&control->names.items[i], &control->rows[i], &nothing};
    for (size_t i = 0; i < test->count; i++) {
        const struct name *name = &test->names.items[i];
        uint32_t found = names_find(&control->names, name->text, name->length);
        if (found == NAME_NONE)
            pairs[(*count)++] = (struct pair){name, &nothing, &test->rows[i]};
        else
            pairs[found].test = &test->rows[i];
        if (!stopper_goes_on(stopper, i, failure)) {
            memory_free(pairs);
            return NULL;
        }
    }
    return pairs;
}

static int diff_produce(struct call *call, struct rows **rows)
{
    static const struct side sides[] = {
        {0, 2, 4, 6, 7, DIFF_SELF_DURATION, TRACE_FOR_DIFF, BY_NAME, "control"},
        {1, 3, 5, 6, 7, DIFF_SELF_DURATION, TRACE_FOR_DIFF, BY_NAME, "test"}};
    struct summary control = {.count = 0}, test = {.count = 0};
    const struct stopper *stopper = &call->database->cache.stopper;
    struct pair *pairs = NULL;
    struct result *result = NULL;
    int64_t control_steps, test_steps;
    size_t count = 0;
    int code = SQLITE_ERROR;
    if (!summarize(call, &sides[0], &control, &control_steps) ||
        !summarize(call, &sides[1], &test, &test_steps))
        goto cleanup;
    pairs = join(&control, &test, &count, stopper, &call->failure);
    if (!pairs || !sort_items(pairs, count, sizeof *pairs, pair_order, stopper, &call->failure))
        goto cleanup;
    result = result_new(call->function->column_count);
    for (size_t i = 0; i < count; i++) {
        if (!stopper_goes_on(stopper, i, &call->failure))
            goto cleanup;
        add_pair(result, &pairs[i], control_steps, test_steps);
    }
    *rows = result_finish(result);
    result = NULL;
    code = *rows ? SQLITE_OK : SQLITE_NOMEM;
cleanup:
    result_free(result);
    memory_free(pairs);
    summary_clear(&control);
    summary_clear(&test);
    return code;
}

const struct table_function trace_diff_function = {
    .name = "trace_diff",
    .text = "operators and kernels of two traces side by side, by name",
    .columns = columns_of_diff,
    .column_count = COUNT_OF(columns_of_diff),
    .arguments = arguments_of_diff,
    .argument_count = COUNT_OF(arguments_of_diff),
    .serves = served_of_diff,
    .reads_files = true,
    .produce = diff_produce,
};
