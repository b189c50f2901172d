/*
** trace_work_diff: operators and kernels that run more or less often in test.
*/
#include "functions/words/work_words.h"
#include "functions/facts/call_work.h"

static const struct table_column columns_of_work_diff[] = {
    {"name", "TEXT", "stable name of the operator or kernel"},
    {"kind", "TEXT", "'operator' or 'kernel'"},
    {"control_counts", "REAL", "executions per step in control, median over the steps"},
    {"test_counts", "REAL", "the same for test"},
    {"control_low", "INTEGER", "fewest executions in a step of control"},
    {"control_high", "INTEGER", "most executions in a step of control"},
    {"test_low", "INTEGER", "fewest executions in a step of test"},
    {"test_high", "INTEGER", "most executions in a step of test"},
    {"median_duration", "REAL", "us, median over the executions of both sides"},
    {"size", "REAL", "us per step: |test_counts - control_counts| times median_duration"},
    {"text", "TEXT", "the change in words, with the name as trace_label gives it"},
};

static const struct argument arguments_of_work_diff[] = {
    {CONTROL_ARGUMENT},
    {TEST_ARGUMENT},
    SELECTIONS_OF_STEPS,
    {STEPS_ARGUMENT},
};

static void add_row(struct result *result, struct writer *text, const struct run_changes *changes,
                    const struct run_change *change)
{
    result_name(result, &changes->names, change->name);
    result_string(result, change->is_kernel ? "kernel" : "operator");
    for (int side = 0; side < 2; side++)
        result_real(result, change->counts[side]);
    for (int side = 0; side < 2; side++) {
        result_integer(result, change->low[side]);
        result_integer(result, change->high[side]);
    }
    result_real(result, change->duration / 1000);
    result_real(result, change->size / 1000);
    if (text->failed)
        result_lost(result);
    result_text(result, text->bytes, text->length);
    text->length = 0;
}

static int work_diff_produce(struct call *call, struct rows **rows)
{
    struct call_trace opened[2] = {{.trace = {.count = 0}}, {.trace = {.count = 0}}};
    struct run_changes changes = {.count = 0};
    struct result *result = result_new(call->function->column_count);
    struct writer text = {0};
    bool done = call_sides_open(call, opened) && call_work_find(call, opened, &changes);
    bool in_steps = done && (call_trace_has_steps(&opened[0]) || call_trace_has_steps(&opened[1]));
    for (size_t i = 0; done && i < changes.count; i++) {
        const struct run_change *change = &changes.items[i];
        write_change_of_runs(&text, &changes, change, in_steps);
        add_row(result, &text, &changes, change);
    }
    writer_clear(&text);
    run_changes_clear(&changes);
    for (int i = 0; i < 2; i++)
        call_trace_close(&opened[i]);
    return result_finish(result, call_code(call), rows);
}

const struct table_function trace_work_diff_function = {
    .name = "trace_work_diff",
    .family = FAMILY_OPERATORS_AND_KERNELS,
    .question = "Which operators or kernels run more or less often per step?",
    .text = "operators and kernels that run more or less often in another trace",
    COLUMNS(columns_of_work_diff),
    ARGUMENTS(arguments_of_work_diff),
    .produce = work_diff_produce,
};
