/*
** trace_compared_ranks: the ranks on which the comparison of two traces is based.
*/
#include "chart/writer.h"
#include "functions/words/rank_words.h"
#include "functions/facts/compared_ranks.h"

static const struct table_column columns_of_compared_ranks[] = {
    {"control_chosen", "",
     "value of control_rank for functions that take 'job'; NULL: the lowest rank. If nothing ties "
     "the clocks of the ranks, the rank that differs most"},
    {"test_chosen", "", "the same for test"},
    {"control_ranks", "",
     "the same ranks for functions that do not take 'job'; for a job, its ranks with steps, in the "
     "chosen phase"},
    {"test_ranks", "", "the same for test"},
    {"control_job", "INTEGER", "1 if the ranks of control are compared as one job, else 0"},
    {"test_job", "INTEGER", "the same for test"},
    {"ranks", "INTEGER", "number of ranks in the jobs; NULL if neither side is a job"},
    {"left_out", "TEXT",
     "JSON array of the ranks left out because they cannot be compared; NULL: none"},
    {"why", "TEXT", "ranks that are left out and the reasons, in words"},
};

static const struct argument arguments_of_compared_ranks[] = {
    {CONTROL_ARGUMENT},
    {TEST_ARGUMENT},
    SELECTIONS_OF_JOB,
    {STEPS_ARGUMENT},
};

/* Adds the written text and empties the writer; an empty text is NULL. */
static void result_written(struct result *result, struct writer *text)
{
    if (text->failed)
        result_lost(result);
    result_text(result, text->length ? text->bytes : NULL, text->length);
    text->length = 0;
}

/* Adds ranks in the form of an argument. */
static void add_ranks(struct result *result, const struct selection *ranks)
{
    struct writer text = {0};
    if (ranks->kind == SELECT_LIST && ranks->count == 1 && !ranks->job) {
        result_integer(result, ranks->values[0]);
        return;
    }
    write_ranks(&text, ranks);
    result_written(result, &text);
    writer_clear(&text);
}

/* Adds the excluded ranks and the reasons. */
static void add_left_out(struct result *result, const struct common_ranks *common)
{
    struct writer text = {0};
    for (size_t i = 0; i < common->count; i++)
        if (common->items[i].why != LEFT_NOT) {
            write_string(&text, text.length ? "," : "[");
            write_integer(&text, common->items[i].rank);
        }
    if (text.length)
        write_string(&text, "]");
    result_written(result, &text);
    write_left_out(&text, common);
    result_written(result, &text);
    writer_clear(&text);
}

static int compared_ranks_produce(struct call *call, struct rows **rows)
{
    struct compared_ranks compared;
    struct result *result = result_new(call->function->column_count);
    if (compared_ranks_find(call, CLOCK_DEVICE, NULL, &compared)) {
        for (int i = 0; i < 2; i++)
            add_ranks(result, &compared.chosen[i]);
        for (int i = 0; i < 2; i++)
            add_ranks(result, &compared.each[i]);
        for (int i = 0; i < 2; i++)
            result_integer(result, compared.chosen[i].job);
        result_number(result, compared.ranks);
        add_left_out(result, &compared.left_out);
    }
    compared_ranks_clear(&compared);
    return result_finish(result, call_code(call), rows);
}

const struct table_function trace_compared_ranks_function = {
    .name = "trace_compared_ranks",
    .family = FAMILY_RANKS_AND_THE_JOB,
    .question = "Which ranks of two traces are compared, and which left out?",
    .text = "the ranks that two traces are compared by, and the ranks that are left out",
    COLUMNS(columns_of_compared_ranks),
    ARGUMENTS(arguments_of_compared_ranks),
    .typical_rows = 1,
    .produce = compared_ranks_produce,
};
