/*
** trace_undo: how long steps would take if the causes of a difference were undone.
*/
#include "base/wide.h"
#include "functions/call/call_undo.h"
#include "functions/facts/compared_ranks.h"
#include "functions/words/cause_words.h"
#include "sqlite/plan.h"

static const struct table_column columns_of_undo[] = {
    {"kind", "TEXT",
     "as in trace_step_causes; NULL in the last row, which is the rest; 'failed' if the simulation "
     "fails (argument fallible)"},
    {"class", "TEXT", "as in trace_step_causes"},
    {"area", "TEXT", "part of the program (see trace_step_causes)"},
    {"name", "TEXT", "operator or kernel (see trace_step_causes)"},
    {"rank", "INTEGER", "the only rank with this cause; NULL: several ranks, or communication"},
    {"diff_time", "REAL",
     "us per step, the cause's share of the difference; in the last row, the rest"},
    {"gain_alone", "REAL",
     "us per step saved if only this cause is undone, by simulation; NULL: the cause has nothing "
     "to undo, its durations do not explain its difference, or its time belongs to other causes"},
    {"gain_half", "REAL", "us per step saved if half of this cause is undone"},
    {"hidden_by", "TEXT",
     "why gain_alone is below 90 % of diff_time: the operator, collective or host time that the "
     "step waits for instead; 'the host': many host events; NULL: it is not below, or there are "
     "several reasons"},
    {"hidden_rank", "INTEGER", "rank of hidden_by; NULL with one rank"},
    {"cumulative", "REAL",
     "us per step after undoing this cause and all causes before it; in the last row, the step of "
     "control"},
    {"gain_alone_ns", "INTEGER", "ns, gain_alone summed over all steps of test"},
    {"cumulative_ns", "INTEGER",
     "ns, cumulative summed over all steps of test; in the last row, over all steps of control"},
    {"text", "TEXT", "the cause in words"},
};

enum {
    UNDO_GAIN_HALF = 7,
    UNDO_HIDDEN_BY,
    UNDO_HIDDEN_RANK,
    UNDO_CUMULATIVE,
    UNDO_CUMULATIVE_NS = 12
};

static const unsigned char served_of_undo[COUNT_OF(columns_of_undo)] = {
    [UNDO_GAIN_HALF] = ON_DEMAND,
    [UNDO_HIDDEN_BY] = ON_DEMAND,
    [UNDO_HIDDEN_RANK] = ON_DEMAND,
    [UNDO_CUMULATIVE] = ON_DEMAND,
    [UNDO_CUMULATIVE_NS] = ON_DEMAND};

enum { UNDO_SHOWN = 6, UNDO_MOST, UNDO_FALLIBLE };

static const struct argument arguments_of_undo[] = {
    {CONTROL_ARGUMENT},
    {TEST_ARGUMENT},
    SELECTIONS_OF_JOB,
    {"shown", TAKES_COUNT, false,
     "merge small causes until this many explain 75 % of the sum of |diff_time|; default no "
     "merging"},
    {"most", TAKES_COUNT, false,
     "undo only this many of the largest causes; the others have no gain; default all"},
    {"fallible", TAKES_FLAG, false,
     "1: if the simulation fails, return one row of kind 'failed' with the error as its text, "
     "instead of an error; default 0"},
    {STEPS_ARGUMENT},
};

/* Adds us per step; NULL without steps. */
static void add_time(struct result *result, wide_time time, size_t steps)
{
    if (steps > 0)
        result_real(result, mean_microseconds(time, (int64_t)steps));
    else
        result_null(result);
}

/* Adds us per step; NULL without steps, or if the gain is unknown. */
static void add_gain(struct result *result, const struct undo *undo, const struct undone *undone,
                     wide_time gain)
{
    if (undone->known)
        add_time(result, gain, undo->steps);
    else
        result_null(result);
}

static void add_row(struct result *result, struct cause_words *words, const struct undo *undo,
                    const struct undone *undone)
{
    const struct causes *causes = words->causes;
    const struct cause *cause = &causes->items[undone->cause];
    result_string(result, cause_kind_name(cause->kind));
    result_string(result, step_class_name(cause->step_class));
    result_name(result, &causes->names, cause->area);
    result_name(result, &causes->names, cause->name);
    result_number(result, cause->rank);
    if (causes->windows[0] > 0 && causes->windows[1] > 0)
        result_real(result, (double)cause->diff / 1000.0 / (double)causes->windows[0] /
                                (double)causes->windows[1]);
    else
        result_null(result);
    add_gain(result, undo, undone, undone->gain);
    add_gain(result, undo, undone, undone->half);
    if (undone->hider.kind == HIDER_HOST)
        result_string(result, "the host");
    else
        result_name(result, &undo->parts.names, undone->hider.name);
    result_number(result, undone->hider.rank);
    add_time(result, undone->after, undo->steps);
    result_number(result, undone->known ? (int64_t)undone->gain : NUMBER_NONE);
    result_integer(result, (int64_t)undone->after);
    cause_words_write(words, cause);
    cause_words_add(words, result);
}

/* Adds a row with the time that remains when all causes are undone. */
static void add_rest(struct result *result, const struct undo *undo,
                     const struct call_simulation *control)
{
    wide_time whole = sim_steps_sum(&control->steps, control->recorded);
    size_t steps = control->steps.chosen;
    for (int i = 0; i < 5; i++)
        result_null(result);
    if (undo->steps > 0 && steps > 0)
        result_real(result,
                    mean_difference(whole, (int64_t)steps, undo->after, (int64_t)undo->steps));
    else
        result_null(result);
    for (int i = 0; i < 4; i++)
        result_null(result);
    add_time(result, whole, steps);
    result_null(result);
    result_integer(result, (int64_t)whole);
    result_string(result, "what is left: not explained by the causes above");
}

static bool add_rows(struct call *call, struct result *result, const struct call_causes *found,
                     const struct undo *undo, const struct call_simulation *control)
{
    struct cause_words words;
    bool done = cause_words_begin(&words, found) || failure_memory(&call->failure);
    for (size_t i = 0; i < undo->count && done; i++)
        add_row(result, &words, undo, &undo->items[i]);
    if (done)
        add_rest(result, undo, control);
    cause_words_end(&words);
    return done;
}

/* Simulates both sides, and adds the gain of undoing each cause. */
static bool simulate_causes(struct call *call, const struct call_trace *opened,
                            struct call_causes *found, size_t most, struct result *result)
{
    const struct call_undo_request request = {
        .most = most,
        .halves = call_wants(call, UNDO_GAIN_HALF),
        .hiders = call_wants(call, UNDO_HIDDEN_BY) || call_wants(call, UNDO_HIDDEN_RANK),
        .cumulative = call_wants(call, UNDO_CUMULATIVE) || call_wants(call, UNDO_CUMULATIVE_NS),
        .together = true};
    struct call_undo undone;
    bool done = call_undo_find(call, opened, found, &request, &undone) &&
                add_rows(call, result, found, &undone.undo, &undone.simulations[0]);
    call_undo_close(&undone);
    return done;
}

/* Adds the row of a failed simulation. */
static void add_failed(struct result *result, struct failure *failure)
{
    result_string(result, "failed");
    for (int i = 1; i + 1 < COUNT_OF(columns_of_undo); i++)
        result_null(result);
    result_string(result, failure->text);
    failure_clear(failure);
}

static void find_rows(struct call *call, const struct call_trace *opened, size_t shown, size_t most,
                      bool fallible, struct result *result)
{
    const struct call_causes_request request = {.clock = CLOCK_DEVICE, .shown = shown};
    struct call_causes found = {.opened = NULL};
    if (call_causes_find(call, &request, opened, &found) &&
        !simulate_causes(call, opened, &found, most, result) && fallible &&
        call->failure.code == FAILURE_REQUEST)
        add_failed(result, &call->failure);
    call_causes_close(&found);
}

static int undo_produce(struct call *call, struct rows **rows)
{
    struct call_trace opened[2] = {{.trace = {.count = 0}}, {.trace = {.count = 0}}};
    struct result *result = result_new(call->function->column_count);
    double shown = 0, most = UINT32_MAX, fallible = 0;
    if (argument_real(call, UNDO_SHOWN, &shown) && argument_real(call, UNDO_MOST, &most) &&
        argument_real(call, UNDO_FALLIBLE, &fallible) &&
        compared_sides_open(call, CLOCK_DEVICE, opened) && result)
        find_rows(call, opened, (size_t)shown, (size_t)most, fallible > 0, result);
    for (int i = 0; i < 2; i++)
        call_trace_close(&opened[i]);
    return result_finish(result, call_code(call), rows);
}

const struct table_function trace_undo_function = {
    .name = "trace_undo",
    .family = FAMILY_WHAT_A_FIX_BRINGS,
    .question = "How long would a step take if a cause were undone?",
    .text =
        "how long a step of test would take if the causes of the difference were undone, one by "
        "one",
    COLUMNS(columns_of_undo),
    ARGUMENTS(arguments_of_undo),
    .serves = served_of_undo,
    .produce = undo_produce,
};
