/*
** trace_summary: why a step is slower or faster, in at most twelve lines of text.
*/
#include <math.h>

#include "call_answer.h"
#include "functions/call/step_parts.h"

static const struct table_column columns_of_summary[] = {
    {"line", "INTEGER", "number of the line, from 1"},
    {"kind", "TEXT",
     "'verdict', 'ranks', 'totals', 'coverage', 'mix', 'untraced', 'compiled', 'caution', 'cause', "
     "'diagnosis', 'rest', 'graphs', 'work', 'log' or 'hint'"},
    {"text", "TEXT",
     "at most 100 characters; not shortened if it says why the traces cannot be compared"},
    {"class", "TEXT", "class of the cause (see trace_step_causes); NULL for other lines"},
    {"name", "TEXT", "full name of the cause or the changed work"},
    {"control_ms", "REAL",
     "ms per step in control; in the caution about larger tensors, scaled to one size"},
    {"test_ms", "REAL", "ms per step in test, likewise"},
    {"diff_ms", "REAL",
     "ms per step, test minus control. Causes and rest add up to the verdict. 'totals' has the "
     "total that changed most, named in code. A caution is not part of any sum"},
    {"share", "REAL", "diff_ms as a share of the difference, 1 for all of it"},
    {"rank", "INTEGER",
     "for a cause: the only rank of a job that has it; for a caution about steps, the clock or the "
     "load of a job: the rank that it names; else NULL"},
    {"gain_ms", "REAL",
     "for a cause: ms per step saved if only this were undone (see trace_undo), simulated on at "
     "most 16 steps per side; NULL with gains = 0"},
    {"hidden_by", "TEXT",
     "for a cause: the work that the step would wait for instead, if gain_ms is below 90 % of "
     "diff_ms; else NULL"},
    {"code", "TEXT",
     "verdict: slower, faster, same, unknown or cannot (be compared); host if only the host's "
     "steps can be compared. totals: busy, communication or idle. caution: topic of "
     "trace_comparability, load, overhead, clock, ranks, outlier, long_step or range. cause: kind "
     "in trace_step_causes, 'like sizes' or 'mix'. graphs: into or out of. diagnosis: its pattern"},
    {"words", "TEXT",
     "full text without the numbers that other columns have; NULL for kinds without such a text"},
    {"advice", "TEXT", "advice for a recognized change (see trace_diagnoses); NULL: none"},
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
