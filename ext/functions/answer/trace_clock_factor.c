/*
** trace_clock_factor: whether all kernels are slower or faster by one factor (X1 to X4).
*/
#include "functions/facts/call_factors.h"
#include "functions/facts/work_sums.h"

static const struct table_column columns_of_clock_factor[] = {
    {"kind", "TEXT",
     "'step' for the first row; then its parts: a kernel 'beyond' or 'within' the factor, or "
     "'other' for the rest"},
    {"outcome", "TEXT",
     "in row 'step': 'one factor', 'no change', 'no common factor' or 'too few kernels'"},
    {"op", "TEXT", "operator that launched the kernel"},
    {"name", "TEXT", "stable name of the kernel"},
    {"grid", "TEXT", "JSON, grid of the launch; NULL if not recorded"},
    {"block", "TEXT", "JSON, block of the launch; NULL if not recorded"},
    {"shapes", "TEXT", "JSON, Input Dims of op; NULL if not recorded"},
    {"counts", "REAL", "executions of the kernel per step, equal on both sides"},
    {"factor", "REAL",
     "mean duration in test divided by mean duration in control; in row 'step' the common factor"},
    {"low", "REAL", "in row 'step': first quartile of the factors, by weight"},
    {"high", "REAL", "in row 'step': third quartile of the factors, by weight"},
    {"kernels", "INTEGER", "in row 'step': number of kernels that are compared"},
    {"agreeing", "INTEGER", "in row 'step': number of these kernels at the common factor"},
    {"agreement", "REAL", "in row 'step': share of the weight of these kernels, 0 to 1"},
    {"share", "REAL",
     "in row 'step': share of the device time of both sides in compared kernels, 0 to 1"},
    {"control_time", "REAL", "us per step in control"},
    {"test_time", "REAL", "us per step in test"},
    {"diff_time", "REAL", "us per step, test minus control"},
    {"explained_time", "REAL", "us per step that the common factor explains"},
    {"rest_time", "REAL", "us per step, diff_time minus explained_time"},
};

static const struct argument arguments_of_clock_factor[] = {
    {CONTROL_ARGUMENT},
    {TEST_ARGUMENT},
    SELECTIONS_OF_STEPS,
    {STEPS_ARGUMENT},
};

static void add_times(struct result *result, const struct factor_times *times)
{
    result_real(result, times->control);
    result_real(result, times->test);
    result_real(result, times->diff);
    result_real(result, times->explained);
    result_real(result, times->rest);
}

static void add_kernel(struct result *result, const struct factor_item *kernel)
{
    result_string(result, kernel->beyond ? "beyond" : "within");
    result_null(result);
    for (int key = 0; key < 5; key++)
        result_named(result, kernel->keys[key]);
    result_real(result, kernel->counts);
    result_real(result, kernel->factor);
    result_nulls(result, 6);
    add_times(result, &kernel->times);
}

static void add_rows(struct result *result, const struct common_factor *found)
{
    static const char *const outcomes[] = {[FACTOR_TOO_FEW] = "too few kernels",
                                           [FACTOR_DIFFERS] = "no common factor",
                                           [FACTOR_NO_CHANGE] = "no change",
                                           [FACTOR_ONE] = "one factor"};
    size_t i = 0;
    if (found->outcome == FACTOR_NOTHING)
        return;
    result_string(result, "step");
    result_string(result, outcomes[found->outcome]);
    result_nulls(result, 6);
    result_real(result, found->factor);
    result_real(result, found->low);
    result_real(result, found->high);
    result_integer(result, (int64_t)found->compared);
    result_integer(result, (int64_t)found->agreeing);
    result_real(result, found->agreement);
    result_real(result, found->share);
    add_times(result, &found->whole);
    while (i < found->compared && found->items[i].beyond)
        add_kernel(result, &found->items[i++]);
    result_string(result, "other");
    result_nulls(result, 14);
    add_times(result, &found->other);
    while (i < found->compared)
        add_kernel(result, &found->items[i++]);
}

static int clock_factor_produce(struct call *call, struct rows **rows)
{
    struct call_trace opened[2];
    struct keyed sums = {.width = 0};
    struct common_factor found;
    struct result *result = result_new(call->function->column_count);
    bool open = call_sides_open_as(call, &(struct call_sides_request){.quoted = true}, opened);
    if (open && device_sums_find(call, opened, &(struct device_wish){.grids = true}, &sums) &&
        call_clock_factor_find(call, opened, &sums, &found)) {
        add_rows(result, &found);
        common_factor_clear(&found);
    }
    keyed_clear(&sums);
    for (int side = 0; open && side < 2; side++)
        call_trace_close(&opened[side]);
    return result_finish(result, call_code(call), rows);
}

const struct table_function trace_clock_factor_function = {
    .name = "trace_clock_factor",
    .family = FAMILY_THE_ANSWER,
    .question = "Is it the clock of the GPU: all kernels slower alike?",
    .text =
        "whether all kernels that do the same work are slower by one factor, which suggests "
        "another clock",
    COLUMNS(columns_of_clock_factor),
    ARGUMENTS(arguments_of_clock_factor),
    .produce = clock_factor_produce,
};
