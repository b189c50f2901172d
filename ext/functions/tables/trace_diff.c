/*
** trace_diff: the events of two traces by name, side by side, like HTA's TraceDiff.compare_traces.
*/
#include "base/memory.h"
#include "naming/short_name.h"
#include "base/sort.h"
#include "functions/call/call_trace.h"

enum { DIFF_SELF_DURATION = 10 };

static const struct table_column columns_of_diff[] = {
    {"name", "TEXT", "name of the operator or kernel"},
    {"control_counts", "INTEGER", "events in control, over all chosen steps"},
    {"test_counts", "INTEGER", "the same for test"},
    {"control_total_duration", "REAL", "us, sum of the durations of these events in control"},
    {"test_total_duration", "REAL", "us, the same for test"},
    {"diff_counts", "INTEGER", "events, test minus control"},
    {"diff_duration", "REAL", "us, test minus control"},
    {"counts_change_categories", "TEXT", "'+', '-' or '=': the sign of diff_counts"},
    {"counts_change", "TEXT",
     "'added', 'deleted', 'increased', 'decreased' or 'same', by the counts alone"},
    {"diff_duration_pct", "REAL",
     "diff_duration in percent of control_total_duration; NULL if that is 0"},
    [DIFF_SELF_DURATION] = {"diff_self_duration", "REAL",
                            "us, test minus control, of the time outside nested events"},
    {"diff_duration_per_step", "REAL", "us per step, test minus control"},
    {"control_counts_per_step", "REAL",
     "events per step of control; per file if the trace has no steps"},
    {"test_counts_per_step", "REAL", "the same for test"},
    {"control_duration_per_step", "REAL",
     "us per step of control; per file if the trace has no steps"},
    {"test_duration_per_step", "REAL", "us per step, the same for test"},
    {"device", "TEXT", "'CPU', 'GPU', or 'both' if host and device times of the name are summed"},
};

static const unsigned char served_of_diff[COUNT_OF(columns_of_diff)] = {
    [DIFF_SELF_DURATION] = ON_DEMAND};

enum { DIFF_DEVICE_TYPE = 6, DIFF_USE_SHORT_NAME };

static const struct argument arguments_of_diff[] = {
    {CONTROL_ARGUMENT}, {TEST_ARGUMENT},
    SELECTIONS_OF_DIFF, {USE_SHORT_NAME_ARGUMENT},
    {STEPS_ARGUMENT},
};

/* One trace, summed up by name. */
struct diff_side {
    struct summary summary;
    int64_t steps; /* like in struct step_choice */
};

static bool sum_up_sides(struct call *call, struct diff_side *sides)
{
    const struct stopper *stopper = call_stopper(call);
    struct call_trace opened[2];
    enum device_type device_type;
    int use_short_name;
    if (!argument_use_short_name(call, DIFF_USE_SHORT_NAME, &use_short_name) ||
        !argument_device_type(call, DIFF_DEVICE_TYPE, &device_type) ||
        !call_sides_open(call, opened))
        return false;
    bool done = true;
    for (int i = 0; i < 2; i++) {
        const struct summary_request sums = {.trace = &opened[i].trace,
                                             .choice = &opened[i].steps,
                                             .device_type = device_type,
                                             .grouping = BY_NAME,
                                             .self = call_wants(call, DIFF_SELF_DURATION)};
        struct summary *summary = &sides[i].summary;
        done = done && summary_make(summary, &sums, stopper, &call->failure) &&
               (use_short_name == 0 ||
                summary_rename(summary, use_short_name == 1 ? name_short : name_stable, stopper,
                               &call->failure));
        sides[i].steps = opened[i].steps.steps;
        call_trace_close(&opened[i]);
    }
    return done;
}

/* The rows of one name on both sides; a side without the name has a row of zeros. */
struct diff_pair {
    const struct name *name;
    const struct summary_row *control, *test;
};

static wide_time difference(const struct diff_pair *pair)
{
    return pair->test->total - pair->control->total;
}

/* Orders by |diff_duration| descending, then by name. */
static int diff_order(const void *a, const void *b)
{
    wide_time x = difference(a), y = difference(b);
    x = x < 0 ? -x : x;
    y = y < 0 ? -y : y;
    return x != y ? COMPARE(y, x)
                  : name_compare(((const struct diff_pair *)a)->name,
                                 ((const struct diff_pair *)b)->name);
}

static const char *counts_change(const struct diff_pair *pair)
{
    int64_t control = pair->control->counts, test = pair->test->counts;
    if (control == 0)
        return "added";
    if (test == 0)
        return "deleted";
    return test > control ? "increased" : test < control ? "decreased" : "same";
}

static const char *seen_on(unsigned seen)
{
    static const char *const words[] = {
        [SEEN_ON_HOST] = "CPU", [SEEN_ON_DEVICE] = "GPU", [SEEN_ON_HOST | SEEN_ON_DEVICE] = "both"};
    return words[seen];
}

static void add_pair(struct result *result, const struct diff_pair *pair, int64_t control_steps,
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
    result_string(result, counts_change(pair));
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

/* Joins the sides by name: control's names, then names that only test has. NULL on failure. */
static struct diff_pair *pair_up(const struct summary *control, const struct summary *test,
                                 size_t *count, const struct stopper *stopper,
                                 struct failure *failure)
{
    static const struct summary_row nothing = {.counts = 0};
    struct diff_pair *pairs = memory_items(control->count + test->count, sizeof *pairs);
    if (!pairs) {
        failure_memory(failure);
        return NULL;
    }
    *count = control->count;
    for (size_t i = 0; i < control->count; i++)
        pairs[i] = (struct diff_pair){&control->names.items[i], &control->rows[i], &nothing};
    for (size_t i = 0; i < test->count; i++) {
        const struct name *name = &test->names.items[i];
        uint32_t found = names_find(&control->names, name->text, name->length);
        if (found == NAME_NONE)
            pairs[(*count)++] = (struct diff_pair){name, &nothing, &test->rows[i]};
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
    const struct stopper *stopper = call_stopper(call);
    struct diff_side sides[2] = {{.steps = 0}};
    struct diff_pair *pairs = NULL;
    struct result *result = result_new(call->function->column_count);
    size_t count = 0;
    if (sum_up_sides(call, sides))
        pairs = pair_up(&sides[0].summary, &sides[1].summary, &count, stopper, &call->failure);
    bool done =
        pairs && sort_items(pairs, count, sizeof *pairs, diff_order, stopper, &call->failure);
    for (size_t i = 0; done && i < count; i++) {
        add_pair(result, &pairs[i], sides[0].steps, sides[1].steps);
        done = stopper_goes_on(stopper, i, &call->failure);
    }
    memory_free(pairs);
    summary_clear(&sides[0].summary);
    summary_clear(&sides[1].summary);
    return result_finish(result, call_code(call), rows);
}

const struct table_function trace_diff_function = {
    .name = "trace_diff",
    .family = FAMILY_OPERATORS_AND_KERNELS,
    .question = "Which kernels, operators, launches are new, gone or changed?",
    .text = "operators and kernels of two traces side by side, by name",
    COLUMNS(columns_of_diff),
    ARGUMENTS(arguments_of_diff),
    .serves = served_of_diff,
    .produce = diff_produce,
};
