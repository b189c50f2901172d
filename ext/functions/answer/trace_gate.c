/*
** trace_gate: whether a change may be merged, or makes a step slower than a limit allows (O1).
*/
#include "call_gate.h"
#include "functions/call/step_parts.h"
#include "functions/words/gate_words.h"
#include "functions/words/rank_words.h"

static const struct table_column columns_of_gate[] = {
    {"outcome", "TEXT", "'pass', 'fail' or 'not known'"},
    {"status", "INTEGER", "the same as a number: 0, 1 or 2"},
    {"code", "TEXT",
     "why the outcome is not known: mean, median, load or unclear; steps, ranks, world, work or "
     "device if the traces cannot be compared; else NULL"},
    {"reason", "TEXT", "the same in words"},
    {"control_ms", "REAL", "ms, mean of control's steps (see trace_verdict); NULL without steps"},
    {"test_ms", "REAL", "ms, the same for test"},
    {"mean_percent", "REAL",
     "percent by which test's mean is longer; NULL if the traces cannot be compared"},
    {"median_percent", "REAL", "percent by which test's median is longer; NULL like mean_percent"},
    {"ranks", "TEXT",
     "JSON array of the rank that decides, if nothing ties the ranks' clocks; pass it to other "
     "functions. NULL: the ranks of the arguments"},
};

enum { GATE_LIMIT = 2, GATE_CLOCK = 7, GATE_LEAST };

static const struct argument arguments_of_gate[] = {
    {CONTROL_ARGUMENT},
    {TEST_ARGUMENT},
    {"limit_percent", TAKES_AMOUNT, true,
     "percent by which a step may be longer; a difference equal to the limit passes"},
    SELECTIONS_OF_JOB,
    {STEP_CLOCK_ARGUMENT},
    {"least_ms", TAKES_AMOUNT, false,
     "ms per step; a smaller or equal difference passes; default 0"},
    {STEPS_ARGUMENT},
};

static void add_reason(struct result *result, const struct call_gate *gate)
{
    const struct gate_facts facts = {.pair = &gate->facts.pair.pair,
                                     .verdict = &gate->facts.pair.verdict,
                                     .judged = gate->facts.judged,
                                     .ranks = &gate->common,
                                     .checks = &gate->checks};
    struct writer text = {0};
    result_string(result, gate_code(gate->said.reason));
    if (gate->said.reason == GATE_NO_REASON) {
        result_null(result);
        return;
    }
    if (call_gate_compares(gate))
        write_own_rank(&text, &gate->facts.pair.ranks.own);
    write_gate_reason(&text, gate->said.reason, &facts);
    if (text.failed)
        result_lost(result);
    result_text(result, text.bytes, text.length);
    writer_clear(&text);
}

/* O2 */
static void add_ranks(struct result *result, const struct own_ranks *own)
{
    char text[32];
    sqlite3_snprintf(sizeof text, text, "[%lld]", own->rank);
    result_string(result, own->there ? text : NULL);
}

static void add_row(struct result *result, const struct call_gate *gate)
{
    const struct pair_side *sides = gate->facts.pair.pair.sides;
    result_string(result, gate_words(gate->said.outcome));
    result_integer(result, gate->said.outcome);
    add_reason(result, gate);
    for (int i = 0; i < 2; i++)
        if (sides[i].windows > 0)
            result_real(result, sides[i].mean);
        else
            result_null(result);
    if (call_gate_compares(gate)) {
        result_real(result, 100 * (sides[1].mean - sides[0].mean) / sides[0].mean);
        result_real(result, 100 * (sides[1].median - sides[0].median) / sides[0].median);
    } else {
        result_nulls(result, 2);
    }
    add_ranks(result, &gate->facts.pair.ranks.own);
}

static int gate_produce(struct call *call, struct rows **rows)
{
    struct call_gate gate = {.has_checks = false};
    struct gate_limits limits = {.ms = 0};
    struct result *result = result_new(call->function->column_count);
    enum step_clock clock;
    if (argument_real(call, GATE_LIMIT, &limits.percent) &&
        argument_real(call, GATE_LEAST, &limits.ms) &&
        argument_step_clock(call, GATE_CLOCK, &clock) &&
        call_gate_find(call, clock, &limits, &gate))
        add_row(result, &gate);
    call_gate_close(&gate);
    return result_finish(result, call_code(call), rows);
}

const struct table_function trace_gate_function = {
    .name = "trace_gate",
    .family = FAMILY_THE_ANSWER,
    .question = "May this change be merged: is a step slower by a limit?",
    .text = "whether a change may be merged: whether a step is slower by more than a limit",
    COLUMNS(columns_of_gate),
    ARGUMENTS(arguments_of_gate),
    .typical_rows = 1,
    .produce = gate_produce,
};
