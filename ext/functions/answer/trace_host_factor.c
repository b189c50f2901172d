/*
** trace_host_factor: whether the whole host is slower or faster (L7).
*/
#include "functions/facts/call_factors.h"
#include "functions/words/factor_words.h"
#include "functions/facts/work_sums.h"

static const struct table_column columns_of_host_factor[] = {
    {"kind", "TEXT",
     "'host' for the first row; then its parts: an 'operator' that is compared, or 'other' for the "
     "rest"},
    {"outcome", "TEXT",
     "in row 'host': 'one factor', 'load differs', 'no change' or 'too few operators'"},
    {"name", "TEXT", "stable name of the operator"},
    {"shapes", "TEXT", "JSON, Input Dims of the operator"},
    {"types", "TEXT", "JSON, Input type of the operator"},
    {"counts", "REAL", "executions of the operator per step, equal on both sides"},
    {"factor", "REAL",
     "self time in test divided by self time in control; in row 'host' the weighted median"},
    {"low", "REAL", "in row 'host': first quartile of the factors, by weight"},
    {"high", "REAL", "in row 'host': third quartile of the factors, by weight"},
    {"operators", "INTEGER", "in row 'host': number of operators that are compared"},
    {"share", "REAL", "in row 'host': their share of the self time of both sides, 0 to 1"},
    {"control_time", "REAL", "us per step of self time in control"},
    {"test_time", "REAL", "us per step of self time in test"},
    {"diff_time", "REAL", "us per step, test minus control"},
    {"explained_time", "REAL",
     "us per step that the factor explains; 0 unless the outcome is 'one factor'"},
    {"rest_time", "REAL", "us per step, diff_time minus explained_time"},
    {"text", "TEXT", "in row 'host': the outcome in words; NULL if load does not differ"},
    {"beyond_time", "REAL",
     "us per step, in row 'other': the part of diff_time that load does not explain"},
};

static const struct argument arguments_of_host_factor[] = {
    {CONTROL_ARGUMENT},
    {TEST_ARGUMENT},
    SELECTIONS_OF_STEPS,
    {STEPS_ARGUMENT},
};

static void add_times(struct result *result, const struct factor_times *times)
{
    result_real(result, times->control);
    result_real(result, times->test);
    result_real(result, times->diff);
    result_real(result, times->explained);
    result_real(result, times->rest);
}

static void add_rows(struct result *result, const struct common_factor *found,
                     struct writer *text)
{
    static const char *const outcomes[] = {[FACTOR_TOO_FEW] = "too few operators",
                                           [FACTOR_DIFFERS] = "load differs",
                                           [FACTOR_NO_CHANGE] = "no change",
                                           [FACTOR_ONE] = "one factor"};
    if (found->outcome == FACTOR_NOTHING)
        return;
    result_string(result, "host");
    result_string(result, outcomes[found->outcome]);
    result_nulls(result, 4);
    result_real(result, found->factor);
    result_real(result, found->low);
    result_real(result, found->high);
    result_integer(result, (int64_t)found->compared);
    result_real(result, found->share);
    add_times(result, &found->whole);
    host_load_write(text, found);
    if (text->failed)
        result_lost(result);
    result_text(result, text->length ? text->bytes : NULL, text->length);
    result_null(result);
    for (size_t i = 0; i < found->compared; i++) {
        const struct factor_item *item = &found->items[i];
        result_string(result, "operator");
        result_null(result);
        for (int key = 0; key < 3; key++)
            result_named(result, item->keys[key]);
        result_real(result, item->counts);
        result_real(result, item->factor);
        result_nulls(result, 4);
        add_times(result, &item->times);
        result_nulls(result, 2);
    }
    result_string(result, "other");
    result_nulls(result, 10);
    add_times(result, &found->other);
    result_null(result);
    result_real(result, found->beyond);
}

static int host_factor_produce(struct call *call, struct rows **rows)
{
    struct call_trace opened[2];
    struct keyed sums = {.width = 0};
    struct common_factor found;
    struct writer text = {0};
    struct result *result = result_new(call->function->column_count);
    bool open = call_sides_open(call, opened);
    if (open && host_sums_find(call, opened, &sums) &&
        call_host_factor_find(call, opened, &sums, &found)) {
        add_rows(result, &found, &text);
        common_factor_clear(&found);
    }
    writer_clear(&text);
    keyed_clear(&sums);
    for (int side = 0; open && side < 2; side++)
        call_trace_close(&opened[side]);
    return result_finish(result, call_code(call), rows);
}

const struct table_function trace_host_factor_function = {
    .name = "trace_host_factor",
    .family = FAMILY_THE_ANSWER,
    .question = "Is the whole host slower, for example because of load?",
    .text =
        "whether operators that do the same work are all slower on the host, which suggests a "
        "loaded machine",
    COLUMNS(columns_of_host_factor),
    ARGUMENTS(arguments_of_host_factor),
    .produce = host_factor_produce,
};
