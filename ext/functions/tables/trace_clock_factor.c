/*
** trace_clock_factor: whether kernels are all slower by one factor (X1 to X4).
*/
#include "functions/answer/call_factors.h"
#include "functions/answer/factor_rows.h"
#include "functions/answer/work_sums.h"

static const struct table_column columns_of_clock_factor[] = {
    {"kind", "TEXT",
     "'step', then its parts: a kernel 'beyond' or 'within' the factor, 'other' for all else"},
    {"outcome", "TEXT",
     "of the step: 'one factor', 'no change', 'no common factor' or 'too few kernels'"},
    {"op", "TEXT", "operator that launched the kernel"},
    {"name", "TEXT", "stable name of the kernel"},
    {"grid", "TEXT", "JSON, of its launch; NULL if not recorded"},
    {"block", "TEXT", "the same"},
    {"shapes", "TEXT", "JSON, Input Dims of op"},
    {"counts", "REAL", "executions of the kernel a step, on each side"},
    {"factor", "REAL", "mean duration in test by that in control; of the step the common factor"},
    {"low", "REAL", "of the step: a quarter of the weight has this factor or less"},
    {"high", "REAL", "of the step: a quarter of the weight has this factor or more"},
    {"kernels", "INTEGER", "of the step: kernels that are compared"},
    {"agreeing", "INTEGER", "of the step: of these, kernels at the common factor"},
    {"agreement", "REAL", "of the step: the part of the weight that these have"},
    {"share", "REAL", "of the step: the part of the device time of both sides that these have"},
    {"control_time", "REAL", "us a step in control"},
    {"test_time", "REAL", "us a step in test"},
    {"diff_time", "REAL", "us a step, test minus control"},
    {"explained_time", "REAL", "us a step: what the common factor makes of control_time"},
    {"rest_time", "REAL", "us a step: diff_time without explained_time"},
};

static const struct argument arguments_of_clock_factor[] = {
    {CONTROL_ARGUMENT},
    {TEST_ARGUMENT},
    SELECTIONS_OF_STEPS,
    {STEPS_ARGUMENT},
};

static void add_step(struct result *result, const struct clock_factor *clock)
{
    static const char *const outcomes[] = {[FACTOR_TOO_FEW] = "too few kernels",
                                           [FACTOR_DIFFERS] = "no common factor",
                                           [FACTOR_NO_CHANGE] = "no change",
                                           [FACTOR_ONE] = "one factor"};
    bool known = clock->kernels > 0;
    result_string(result, "step");
    result_string(result, outcomes[clock->outcome]);
    result_nulls(result, 6);
    result_factor(result, known, &clock->common);
    result_integer(result, (int64_t)clock->kernels);
    result_integer(result, (int64_t)clock->agreeing);
    result_real_if(result, known, clock->agreement);
    result_real(result, clock->share);
    result_factor_times(result, &clock->step);
}

static void add_kernel(struct result *result, const struct clock_kernel *kernel)
{
    result_string(result, kernel->beyond ? "beyond" : "within");
    result_null(result);
    result_of_name(result, kernel->op);
    result_of_name(result, kernel->name);
    result_of_name(result, kernel->grid);
    result_of_name(result, kernel->block);
    result_of_name(result, kernel->shapes);
    result_real(result, kernel->counts);
    result_real(result, kernel->factor);
    result_nulls(result, 6);
    result_factor_times(result, &kernel->times);
}

static void add_other(struct result *result, const struct clock_factor *clock)
{
    result_string(result, "other");
    result_nulls(result, 14);
    result_factor_times(result, &clock->other);
}

static void add_rows(struct result *result, const struct clock_factor *clock)
{
    size_t i = 0;
    if (clock->outcome == FACTOR_NOTHING)
        return;
    add_step(result, clock);
    for (; i < clock->kernels && clock->items[i].beyond; i++)
        add_kernel(result, &clock->items[i]);
    add_other(result, clock);
    for (; i < clock->kernels; i++)
        add_kernel(result, &clock->items[i]);
}

static int clock_factor_produce(struct call *call, struct rows **rows)
{
    struct call_trace opened[2];
    struct keyed sums = {.width = 0};
    struct clock_factor clock;
    struct result *result = result_new(call->function->column_count);
    bool open = call_sides_open_as(call, &(struct call_sides_request){.quoted = true}, opened);
    if (open && device_sums_find(call, opened, false, &sums) &&
        call_clock_factor_find(call, opened, &sums, &clock)) {
        add_rows(result, &clock);
        clock_factor_clear(&clock);
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
    .text = "whether kernels that do the same work are all slower by one factor, as with another "
            "clock",
    COLUMNS(columns_of_clock_factor),
    ARGUMENTS(arguments_of_clock_factor),
    .produce = clock_factor_produce,
};
