/*
** trace_diagnoses: the change that a person made, and the action to take.
*/
#include "diagnoses.h"
#include "chart/writer.h"
#include "functions/call/step_parts.h"

static const struct table_column columns_of_diagnoses[] = {
    {"pattern", "TEXT",
     "name of the pattern in sql/patterns/; NULL: the causes that no pattern explains"},
    {"sentence", "TEXT", "what was changed; for a pattern that fails, its error"},
    {"time_ms", "REAL",
     "ms per step of the causes that the pattern claims; NULL if it claims none or the difference "
     "is not significant"},
    {"share", "REAL", "time_ms as a share of the difference, 1 for all of it; NULL like time_ms"},
    {"rank", "INTEGER", "for a job, the only rank with these causes; else NULL"},
    {"advice", "TEXT", "what to do about it; NULL: nothing"},
    {"causes", "TEXT",
     "JSON array of their numbers in trace_step_causes; NULL: the pattern failed"},
};

enum { DIAGNOSES_CLOCK = 6, DIAGNOSES_PATTERNS };

static const struct argument arguments_of_diagnoses[] = {
    {CONTROL_ARGUMENT},
    {TEST_ARGUMENT},
    SELECTIONS_OF_JOB,
    {STEP_CLOCK_ARGUMENT},
    {"patterns", TAKES_TEXT, false,
     "directory of your own patterns (NAME.sql), in addition to the table temp.patterns; default "
     "none"},
    {STEPS_ARGUMENT},
};

/* Adds the numbers of a diagnosis's causes; SIZE_MAX: the causes without a diagnosis. */
static void add_causes(struct result *result, const struct diagnoses *found, size_t of)
{
    struct writer text = {0};
    const char *before = "[";
    for (size_t i = 0; i < found->cause_count; i++)
        if (found->owners[i] == of) {
            write_string(&text, before);
            write_integer(&text, (int64_t)i + 1);
            before = ",";
        }
    write_string(&text, before[0] == '[' ? "[]" : "]");
    if (text.failed)
        result_lost(result);
    result_text(result, text.bytes, text.length);
    writer_clear(&text);
}

static void add_rows(struct result *result, const struct diagnoses *found)
{
    for (size_t i = 0; i < found->count; i++) {
        const struct diagnosis *of = &found->items[i];
        result_name(result, &found->texts, of->pattern);
        result_name(result, &found->texts, of->sentence);
        result_real(result, of->ms);
        result_real(result, of->share);
        result_number(result, of->rank);
        result_name(result, &found->texts, of->advice);
        if (of->is_error)
            result_null(result);
        else
            add_causes(result, found, i);
    }
    result_null(result);
    result_string(result, "causes that no pattern names");
    result_real(result, found->ms);
    result_real(result, found->share);
    result_null(result);
    result_null(result);
    add_causes(result, found, SIZE_MAX);
}

/* Whether there can be diagnoses. With a recording that cannot be trusted, there are none, except
** that one side has no device work. */
static bool may_say(const struct answer_facts *facts)
{
    const struct pair_side *sides = facts->pair.pair.sides;
    return facts->judged > JUDGED_CANNOT ||
           (facts->judged == JUDGED_CANNOT && sides[0].of_host != sides[1].of_host);
}

static int diagnoses_produce(struct call *call, struct rows **rows)
{
    struct answer_facts facts = {.call = NULL};
    struct diagnoses found = {.count = 0};
    struct own_patterns own = {.count = 0};
    sqlite3_value *folder = call->values[DIAGNOSES_PATTERNS];
    struct result *result = result_new(call->function->column_count);
    enum step_clock clock;
    if (argument_step_clock(call, DIAGNOSES_CLOCK, &clock) &&
        own_patterns_read(call, folder ? (const char *)sqlite3_value_text(folder) : NULL, &own) &&
        facts_open(call, clock, NULL, &facts) && may_say(&facts) &&
        diagnoses_find(&facts, &own, &found))
        add_rows(result, &found);
    own_patterns_clear(&own);
    diagnoses_clear(&found);
    facts_close(&facts);
    return result_finish(result, call_code(call), rows);
}

const struct table_function trace_diagnoses_function = {
    .name = "trace_diagnoses",
    .family = FAMILY_THE_ANSWER,
    .question = "What did somebody change, and what can be done about it?",
    .text = "the change that somebody made, in words, and what to do about it",
    COLUMNS(columns_of_diagnoses),
    ARGUMENTS(arguments_of_diagnoses),
    .typical_rows = 4,
    .produce = diagnoses_produce,
};
