/*
** trace_comparability: the properties that make two traces comparable or not (J1 to J4).
*/
#include "functions/facts/call_checks.h"
#include "functions/words/check_words.h"
#include "functions/call/step_parts.h"
#include "text/text.h"

static const struct table_column columns_of_comparability[] = {
    {"line", "INTEGER", "number of the row, from 1"},
    {"topic", "TEXT",
     "'steps', 'device', 'ranks', 'warmup', 'shapes', 'types', 'files', 'profiler', 'options', "
     "'modules', 'versions' or 'time'"},
    {"item", "TEXT", "the compared property, operator, or key of trace_metadata"},
    {"control_value", "", "value in control; NULL: not known, or the row is about test alone"},
    {"test_value", "", "value in test; NULL: not known, or the row is about control alone"},
    {"same", "INTEGER", "1 if both sides have the same value, else 0; NULL if a side has none"},
    {"matters", "TEXT", "'yes', 'maybe' or 'no': whether it can make the comparison unreliable"},
    {"why", "TEXT", "the reason in a sentence"},
    {"diff_time", "REAL",
     "us per step, test minus control, of operators whose types differ; NULL for other topics"},
};

enum { COMPARABILITY_CLOCK = 6, COMPARABILITY_SHAPES };

static const struct argument arguments_of_comparability[] = {
    {CONTROL_ARGUMENT},
    {TEST_ARGUMENT},
    SELECTIONS_OF_STEPS,
    {STEP_CLOCK_ARGUMENT},
    {"shapes", TAKES_COUNT, false,
     "0: leave out the topics shapes and types, which read args; default 1"},
    {STEPS_ARGUMENT},
};

/* Adds a text and frees it. A `shown` text is made readable for people. */
static void add_text(struct result *result, sqlite3_str *text, bool shown)
{
    size_t length = (size_t)sqlite3_str_length(text);
    char *bytes = sqlite3_str_finish(text);
    if (!bytes)
        result_lost(result);
    else if (shown)
        length = text_visible(bytes, length);
    result_text(result, bytes, length);
    sqlite3_free(bytes);
}

static void add_value(struct result *result, const struct checks *checks,
                      const struct check *check, int side)
{
    const struct check_value *value = &check->values[side];
    if (value->kind == VALUE_NONE) {
        result_null(result);
    } else if (check->highest[side].kind == VALUE_NONE && value->kind == VALUE_INTEGER) {
        result_integer(result, value->integer);
    } else if (check->highest[side].kind == VALUE_NONE && value->kind == VALUE_REAL) {
        result_real(result, value->real);
    } else {
        sqlite3_str *text = sqlite3_str_new(NULL);
        check_words_value(text, checks, check, side);
        add_text(result, text, false);
    }
}

static void add_check(struct result *result, const struct checks *checks, size_t i)
{
    static const char *const matters[] = {"no", "maybe", "yes"};
    const struct check *check = &checks->items[i];
    const char *item = check_words_item(check->code);
    sqlite3_str *why = sqlite3_str_new(NULL);
    result_integer(result, (int64_t)i + 1);
    result_string(result, check_words_topic(check->code));
    if (item)
        result_string(result, item);
    else
        result_name(result, &checks->texts, check->item);
    add_value(result, checks, check, 0);
    add_value(result, checks, check, 1);
    result_number(result, check->same < 0 ? NUMBER_NONE : check->same);
    result_string(result, matters[check->matters]);
    check_words_why(why, checks, check);
    add_text(result, why, true);
    if (check->code == CHECK_RETYPED)
        result_real(result, check->diff);
    else
        result_null(result);
}

static int comparability_produce(struct call *call, struct rows **rows)
{
    static const char *const clocks[] = {[CLOCK_DEVICE] = "device", [CLOCK_HOST] = "host"};
    struct call_trace opened[2] = {{.trace = {.count = 0}}, {.trace = {.count = 0}}};
    const struct call_sides_request sides = {.quoted = true};
    struct result *result = result_new(call->function->column_count);
    struct checks checks;
    double shapes = 1;
    int clock;
    if (argument_word(call, COMPARABILITY_CLOCK, clocks, COUNT_OF(clocks), &clock) &&
        argument_real(call, COMPARABILITY_SHAPES, &shapes) &&
        call_sides_open_as(call, &sides, opened)) {
        const struct checks_request request = {
            .opened = opened, .clock = (enum step_clock)clock, .shapes = shapes != 0};
        if (call_checks_find(call, &request, &checks)) {
            for (size_t i = 0; i < checks.count; i++)
                add_check(result, &checks, i);
            checks_clear(&checks);
        }
    }
    for (int i = 0; i < 2; i++)
        call_trace_close(&opened[i]);
    return result_finish(result, call_code(call), rows);
}

const struct table_function trace_comparability_function = {
    .name = "trace_comparability",
    .family = FAMILY_THE_ANSWER,
    .question = "Can these two traces be compared at all?",
    .text = "what makes two traces comparable or not: devices, ranks, steps, shapes, versions, "
            "options",
    COLUMNS(columns_of_comparability),
    ARGUMENTS(arguments_of_comparability),
    .produce = comparability_produce,
};
