/*
** trace_summary: why a step is slower or faster, in at most twelve lines of text.
*/
#include <math.h>

#include "call_answer.h"
#include "functions/call/step_parts.h"

static const struct table_column columns_of_summary[] = {
    {"line", "INTEGER", "from 1"},
    {"kind", "TEXT",
     "'verdict', 'ranks', 'totals', 'coverage', 'mix', 'untraced', 'compiled', 'caution', 'cause', "
     "'diagnosis', 'rest', 'graphs', 'work', 'log' or 'hint'"},
    {"text", "TEXT",
     "at most 100 characters; in full, if it says why the traces cannot be compared"},
    {"class", "TEXT", "of a cause, as trace_step_causes has it"},
    {"name", "TEXT", "of a cause or work, in full"},
    {"control_ms", "REAL",
     "ms per step in control; in the caution about larger tensors, both sides' times are for "
     "tensors of one size"},
    {"test_ms", "REAL", "ms per step in test"},
    {"diff_ms", "REAL",
     "ms per step, test minus control: causes and rest sum to the verdict's; the line of totals "
     "has the numbers of the total that changed most, which code names; the amount of a caution is "
     "in no sum"},
    {"share", "REAL", "part of the difference"},
    {"rank", "INTEGER",
     "of a cause, as trace_step_causes has it: the only rank of a job that differs so; of a "
     "caution of a job about a step, the clock or the load, the rank that it names"},
    {"gain_ms", "REAL",
     "of a cause, with gains: ms per step that it would be shorter if only this were undone, as "
     "trace_undo has it, of at most 16 steps per side"},
    {"hidden_by", "TEXT",
     "of a cause, with gains: what a step would wait for instead, if that is less than nine tenths "
     "of diff_ms"},
    {"code", "TEXT",
     "of the verdict: slower, faster, same, unknown or cannot (be compared); host of the steps by "
     "the host's clock, if they cannot; of totals: busy, communication or idle; of "
     "a caution: its topic in trace_comparability, load, overhead, clock, ranks, outlier, "
     "long_step or range; of a cause its kind in trace_step_causes, 'like sizes' or 'mix'; of "
     "graphs: into or out of, as test runs the operators; of a diagnosis its pattern"},
    {"words", "TEXT",
     "of the verdict, totals, a caution, a cause, a diagnosis, graphs and work: the text without "
     "numbers of other columns, in full"},
    {"advice", "TEXT", "of a diagnosis: what to do about it; NULL: nothing"},
};

static const struct argument arguments_of_summary[] = {
    {CONTROL_ARGUMENT},    {TEST_ARGUMENT},  SELECTIONS_OF_JOB,
    {STEP_CLOCK_ARGUMENT}, ANSWER_ARGUMENTS, {STEPS_ARGUMENT},
};

static void add_real(struct result *result, double number)
{
    if (isfinite(number))
        result_real(result, number);
    else
        result_null(result);
}

static void add_line(struct result *result, const struct answer *answer, size_t i)
{
    static const char *const kinds[] = {
        [LINE_RANKS] = "ranks",
        [LINE_VERDICT] = "verdict",   [LINE_TOTALS] = "totals",     [LINE_COVERAGE] = "coverage",
        [LINE_MIX] = "mix",           [LINE_UNTRACED] = "untraced", [LINE_COMPILED] = "compiled",
        [LINE_CAUTION] = "caution",   [LINE_CAUSE] = "cause",       [LINE_REST] = "rest",
        [LINE_GRAPHS] = "graphs",     [LINE_WORK] = "work",         [LINE_LOG] = "log",
        [LINE_HINT] = "hint",         [LINE_CHANGE] = "diagnosis",
        [LINE_DIAGNOSIS] = "diagnosis"};
    const struct answer_line *line = &answer->lines[i];
    const struct names *texts = &answer->causes.texts;
    result_integer(result, (int64_t)i + 1);
    result_string(result, kinds[line->kind]);
    result_name(result, texts, line->text);
    result_string(result, line->step_class);
    result_name(result, texts, line->name);
    add_real(result, line->control_ms);
    add_real(result, line->test_ms);
    add_real(result, line->diff_ms);
    add_real(result, line->share);
    result_number(result, line->rank);
    add_real(result, line->gain_ms);
    result_name(result, texts, line->hidden_by);
    result_string(result, line->code);
    result_name(result, texts, line->words);
    result_name(result, &answer->causes.diagnoses.texts, line->advice);
}

static int summary_produce(struct call *call, struct rows **rows)
{
    struct answer answer = {.line_count = 0};
    struct answer_request request;
    struct result *result = result_new(call->function->column_count);
    if (answer_request_read(call, &request) && call_answer_find(call, &request, &answer))
        for (size_t i = 0; i < answer.line_count; i++)
            add_line(result, &answer, i);
    call_answer_close(&answer);
    return result_finish(result, call_code(call), rows);
}

const struct table_function trace_summary_function = {
    .name = "trace_summary",
    .family = FAMILY_THE_ANSWER,
    .question = "Why is a step slower or faster, in a few lines?",
    .text = "why a step is slower or faster, in at most twelve lines of text",
    COLUMNS(columns_of_summary),
    ARGUMENTS(arguments_of_summary),
    .typical_rows = MOST_LINES,
    .produce = summary_produce,
};
