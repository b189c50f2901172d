/*
** trace_host_factor: whether the whole host is slower (L7).
*/
#include "functions/answer/call_factors.h"
#include "functions/answer/factor_rows.h"
#include "functions/words/factor_words.h"
#include "functions/answer/work_sums.h"

static const struct table_column columns_of_host_factor[] = {
    {"kind", "TEXT", "'host', then its parts: an 'operator' that is compared, 'other' for all "
                     "others"},
    {"outcome", "TEXT",
     "of the host: 'one factor', 'load differs', 'no change' or 'too few operators'"},
    {"name", "TEXT", "stable name of the operator"},
    {"shapes", "TEXT", "JSON, its Input Dims"},
    {"types", "TEXT", "JSON, its Input type"},
    {"counts", "REAL", "executions of the operator a step, on each side"},
    {"factor", "REAL", "self time in test by that in control; of the host the weighted median"},
    {"low", "REAL", "of the host: a quarter of the weight has this factor or less"},
    {"high", "REAL", "of the host: a quarter of the weight has this factor or more"},
    {"operators", "INTEGER", "of the host: operators that are compared"},
    {"share", "REAL", "of the host: the part of the self time of both sides that these have"},
    {"control_time", "REAL", "us a step in control, self time"},
    {"test_time", "REAL", "us a step in test, self time"},
    {"diff_time", "REAL", "us a step, test minus control"},
    {"explained_time", "REAL", "us a step: what the factor makes of control_time, if the outcome "
                               "is 'one factor'; else 0"},
    {"rest_time", "REAL", "us a step: diff_time without explained_time"},
    {"text", "TEXT", "of the host: the outcome in words; NULL if it is not about load"},
    {"beyond_time", "REAL",
     "us a step: of 'other' the part of diff_time that load does not explain"},
};

static const struct argument arguments_of_host_factor[] = {
    {CONTROL_ARGUMENT},
    {TEST_ARGUMENT},
    SELECTIONS_OF_STEPS,
    {STEPS_ARGUMENT},
};

static void add_host(struct result *result, const struct host_factor *host)
{
    static const char *const outcomes[] = {[FACTOR_TOO_FEW] = "too few operators",
                                           [FACTOR_DIFFERS] = "load differs",
                                           [FACTOR_NO_CHANGE] = "no change",
                                           [FACTOR_ONE] = "one factor"};
    struct writer text = {0};
    result_string(result, "host");
    result_string(result, outcomes[host->outcome]);
    result_nulls(result, 4);
    result_factor(result, host->operators > 0, &host->common);
    result_integer(result, (int64_t)host->operators);
    result_real_if(result, host->timed, host->share);
    result_factor_times(result, &host->host);
    host_load_write(&text, host);
    if (text.failed)
        result_lost(result);
    result_text(result, text.length ? text.bytes : NULL, text.length);
    result_null(result);
    writer_clear(&text);
}

static void add_operator(struct result *result, const struct host_operator *operator)
{
    result_string(result, "operator");
    result_null(result);
    result_of_name(result, operator->name);
    result_of_name(result, operator->shapes);
    result_of_name(result, operator->types);
    result_real(result, operator->counts);
    result_real(result, operator->factor);
    result_nulls(result, 4);
    result_factor_times(result, &operator->times);
    result_nulls(result, 2);
}

static void add_other(struct result *result, const struct host_factor *host)
{
    result_string(result, "other");
    result_nulls(result, 10);
    result_factor_times(result, &host->other);
    result_null(result);
    result_real_if(result, host->operators > 0, host->beyond);
}

static int host_factor_produce(struct call *call, struct rows **rows)
{
    struct call_trace opened[2];
    struct keyed sums = {.width = 0};
    struct host_factor host;
    struct result *result = result_new(call->function->column_count);
    bool open = call_sides_open(call, opened);
    if (open && host_sums_find(call, opened, &sums) &&
        call_host_factor_find(call, opened, &sums, &host)) {
        if (host.outcome != FACTOR_NOTHING) {
            add_host(result, &host);
            for (size_t i = 0; i < host.operators; i++)
                add_operator(result, &host.items[i]);
            add_other(result, &host);
        }
        host_factor_clear(&host);
    }
    keyed_clear(&sums);
    for (int side = 0; open && side < 2; side++)
        call_trace_close(&opened[side]);
    return result_finish(result, call_code(call), rows);
}

const struct table_function trace_host_factor_function = {
    .name = "trace_host_factor",
    .family = FAMILY_THE_ANSWER,
    .question = "Is the whole host slower alike, as on a loaded machine?",
    .text = "whether operators that do the same work are all slower on the host, as on a loaded "
            "machine",
    COLUMNS(columns_of_host_factor),
    ARGUMENTS(arguments_of_host_factor),
    .produce = host_factor_produce,
};
