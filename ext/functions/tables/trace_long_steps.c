/*
** trace_long_steps: the steps that trace_verdict excludes, and their surplus.
*/
#include "functions/call/step_parts.h"
#include "functions/facts/call_long_steps.h"

static const struct table_column columns_of_long_steps[] = {
    {"side", "TEXT", "'control' or 'test'"},
    {"iteration", "INTEGER", "number of the step"},
    {"is_left_out", "INTEGER",
     "1 if trace_verdict leaves the step out; 0 if it is the longest remaining step and much "
     "longer than their median"},
    {"ms", "REAL", "ms, length of the step"},
    {"median_ms", "REAL", "ms, median of the remaining steps"},
    {"rank", "INTEGER", "rank of the part that exceeds its mean over the steps most"},
    {"class", "TEXT", "class of that part in trace_step_time"},
    {"name", "TEXT", "name of that part: its top_op in trace_step_time"},
};

enum { LONG_CLOCK = 6 };

static const struct argument arguments_of_long_steps[] = {
    {CONTROL_ARGUMENT},
    {TEST_ARGUMENT},
    SELECTIONS_OF_JOB,
    {STEP_CLOCK_ARGUMENT},
    {STEPS_ARGUMENT},
};

static void add_row(struct result *result, const struct pair *pair, const struct long_steps *steps,
                    const struct long_step *step)
{
    result_string(result, step->side ? "test" : "control");
    result_integer(result, step->iteration);
    result_integer(result, step->is_out);
    result_real(result, step->length);
    result_real(result, pair->sides[step->side].median);
    result_integer(result, step->rank);
    result_string(result, step_class_name(step->step_class));
    result_name(result, &steps->names, step->name);
}

static int long_steps_produce(struct call *call, struct rows **rows)
{
    struct call_pair pair = {.open = false};
    struct long_steps steps = {.count = 0};
    struct result *result = result_new(call->function->column_count);
    enum step_clock clock;
    if (argument_step_clock(call, LONG_CLOCK, &clock) &&
        call_pair_open(call, clock, NULL, &pair) && call_long_steps_find(call, &pair, &steps))
        for (size_t i = 0; i < steps.count; i++)
            add_row(result, &pair.pair, &steps, &steps.items[i]);
    long_steps_clear(&steps);
    call_pair_close(&pair);
    return result_finish(result, call_code(call), rows);
}

const struct table_function trace_long_steps_function = {
    .name = "trace_long_steps",
    .family = FAMILY_THE_ANSWER,
    .question = "Which steps are outliers, and what fills them?",
    .text =
        "outliers: the steps that trace_verdict leaves out, the longest remaining one if it is "
        "long, and the part that each has most more of than the others",
    COLUMNS(columns_of_long_steps),
    ARGUMENTS(arguments_of_long_steps),
    .produce = long_steps_produce,
};
