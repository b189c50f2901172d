/*
** trace_verdict: whether a step is slower or faster in test, given how much steps vary.
*/
#include "base/memory.h"
#include "chart/writer.h"
#include "functions/call/step_parts.h"
#include "functions/facts/answer_facts.h"
#include "functions/words/factor_words.h"
#include "functions/words/rank_words.h"
#include "functions/words/time_format.h"
#include "functions/words/verdict_words.h"

static const struct table_column columns_of_verdict[] = {
    {"verdict", "TEXT", "in words, such as 'slower here'"},
    {"control_ms", "REAL",
     "ms, mean of the steps that are kept; all times are NULL if the traces cannot be compared"},
    {"test_ms", "REAL", "ms, the same for test"},
    {"diff_ms", "REAL", "ms, test minus control"},
    {"control_median_ms", "REAL", "ms, median of these steps"},
    {"test_median_ms", "REAL", "ms, the same for test"},
    {"control_low_ms", "REAL", "ms, the shortest of these steps"},
    {"control_high_ms", "REAL", "ms, the longest of these steps"},
    {"test_low_ms", "REAL", "ms, the same for test"},
    {"test_high_ms", "REAL", "ms, the same for test"},
    {"control_steps", "INTEGER", "number of steps that are kept, of all ranks; 0 without steps"},
    {"test_steps", "INTEGER", "the same for test"},
    {"slow_steps", "INTEGER", "steps of test that are longer than every step of control"},
    {"control_ranks", "INTEGER", "number of ranks; 1 for a job"},
    {"test_ranks", "INTEGER", "the same for test"},
    {"control_lowest", "INTEGER", "lowest rank"},
    {"test_lowest", "INTEGER", "the same for test"},
    {"control_iterations", "TEXT",
     "value of control_iteration with which other functions use the same steps"},
    {"test_iterations", "TEXT", "the same for test"},
    {"control_left_out", "TEXT", "JSON array of the steps left out as outliers; NULL: none"},
    {"test_left_out", "TEXT", "the same for test"},
    {"control_of_host", "INTEGER",
     "1 if control has no device work, so that its steps are measured on the host; else 0"},
    {"test_of_host", "INTEGER", "the same for test"},
    {"strata", "INTEGER", "number of different phases and sizes among the steps"},
    {"judged", "TEXT",
     "conclusion of trace_summary: slower, faster, same, unclear, load (slower or faster because "
     "of load), other work, nothing (to compare) or cannot (be compared)"},
    {"judgement", "TEXT", "the same in words, such as 'test is slower here'"},
    {"is_apart", "INTEGER",
     "1 if all steps of one side are longer than all steps of the other, else 0"},
    {"load", "TEXT", "how the host's load differs, in words; NULL: it does not"},
    {"unit", "TEXT", "unit of times in trace_summary: 'ms' or 's'"},
    {"digits", "INTEGER", "decimals of these times"},
};

enum { VERDICT_CLOCK = 6 };

static const struct argument arguments_of_verdict[] = {
    {CONTROL_ARGUMENT}, {TEST_ARGUMENT}, SELECTIONS_OF_JOB, {STEP_CLOCK_ARGUMENT}, {STEPS_ARGUMENT},
};

/* Adds steps as a JSON array: the excluded or the compared ones. */
static void add_steps(struct result *result, const struct pair_side *side, bool out)
{
    struct writer text = {0};
    write_steps(&text, side, out);
    if (text.failed)
        result_lost(result);
    result_text(result, text.bytes, text.length);
    writer_clear(&text);
}

/* Adds a number that exists only for a side with steps. */
static void add_real(struct result *result, bool there, double value)
{
    if (there)
        result_real(result, value);
    else
        result_null(result);
}

static void add_integer(struct result *result, bool there, int64_t value)
{
    if (there)
        result_integer(result, value);
    else
        result_null(result);
}

static void add_iterations(struct call *call, struct result *result, const struct call_pair *pair)
{
    for (int side = 0; side < 2; side++) {
        sqlite3_value *given = call->values[argument_of(call, NAMES_ITERATIONS, side)];
        if (pair->iterations[side])
            add_steps(result, &pair->pair.sides[side], false);
        else if (given)
            result_text(result, (const char *)sqlite3_value_text(given),
                        (size_t)sqlite3_value_bytes(given));
        else
            result_null(result);
    }
    for (int side = 0; side < 2; side++)
        if (pair->iterations[side])
            add_steps(result, &pair->pair.sides[side], true);
        else
            result_null(result);
}

/* Adds the written text; NULL if it is empty. */
static void add_text(struct result *result, struct writer *text)
{
    if (text->failed)
        result_lost(result);
    result_text(result, text->length ? text->bytes : NULL, text->length);
    text->length = 0;
}

static void add_judgement(struct result *result, const struct answer_facts *facts)
{
    const struct call_pair *pair = &facts->pair;
    const struct time_format amounts = time_format_of(&pair->pair);
    struct writer text = {0};
    result_string(result, judged_word(facts->judged, &pair->verdict));
    write_own_rank(&text, &pair->ranks.own);
    write_judged(&text, facts->judged, &pair->verdict, &pair->pair);
    add_text(result, &text);
    add_integer(result, facts->judged > JUDGED_CANNOT, pair_is_apart(&pair->pair));
    if (facts->load.there)
        host_load_write(&text, facts_load(facts));
    add_text(result, &text);
    result_string(result, amounts.unit);
    result_integer(result, amounts.digits);
    writer_clear(&text);
}

static void add_row(struct call *call, struct result *result, const struct answer_facts *facts)
{
    const struct call_pair *pair = &facts->pair;
    const struct pair_side *sides = pair->pair.sides;
    bool there[2] = {sides[0].count > 0, sides[1].count > 0}, both = there[0] && there[1];
    bool cannot = facts->judged == JUDGED_CANNOT;
    result_string(result, cannot ? "cannot be compared" : verdict_words(&pair->verdict));
    for (int i = 0; i < 2; i++)
        add_real(result, there[i] && !cannot, sides[i].mean);
    add_real(result, both && !cannot, pair_diff(&pair->pair));
    for (int i = 0; i < 2; i++)
        add_real(result, there[i] && !cannot, sides[i].median);
    for (int i = 0; i < 2; i++) {
        add_real(result, there[i] && !cannot, sides[i].low);
        add_real(result, there[i] && !cannot, sides[i].high);
    }
    for (int i = 0; i < 2; i++)
        add_integer(result, there[i], sides[i].windows);
    add_integer(result, there[1] && !cannot, pair->verdict.slow);
    for (int i = 0; i < 2; i++)
        add_integer(result, there[i], sides[i].ranks);
    for (int i = 0; i < 2; i++)
        add_integer(result, there[i], sides[i].lowest_rank);
    add_iterations(call, result, pair);
    for (int i = 0; i < 2; i++)
        add_integer(result, there[i], sides[i].of_host);
    result_integer(result, (int64_t)pair->pair.strata_count);
    add_judgement(result, facts);
}

static int verdict_produce(struct call *call, struct rows **rows)
{
    struct answer_facts facts = {.call = NULL};
    struct result *result = result_new(call->function->column_count);
    enum step_clock clock;
    if (argument_step_clock(call, VERDICT_CLOCK, &clock) && facts_open(call, clock, NULL, &facts))
        add_row(call, result, &facts);
    facts_close(&facts);
    return result_finish(result, call_code(call), rows);
}

const struct table_function trace_verdict_function = {
    .name = "trace_verdict",
    .family = FAMILY_THE_ANSWER,
    .question = "One run per side: is a step slower, or do steps just vary?",
    .text = "whether a step is slower or faster in another trace, given how much steps vary",
    COLUMNS(columns_of_verdict),
    ARGUMENTS(arguments_of_verdict),
    .typical_rows = 1,
    .produce = verdict_produce,
};
