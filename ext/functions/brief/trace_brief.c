/*
** trace_brief: the answer as a document for programs (Z1 to Z7).
*/
#include "brief.h"
#include "functions/call/step_parts.h"

static const struct table_column columns_of_brief[] = {
    {"json", "TEXT", "a document of at most 7,250 bytes that conforms to sql/brief.schema.json"},
};

static const struct argument arguments_of_brief[] = {
    {CONTROL_ARGUMENT}, {TEST_ARGUMENT},   SELECTIONS_OF_JOB, {STEP_CLOCK_ARGUMENT},
    ANSWER_ARGUMENTS,   {STEPS_ARGUMENT},
};

static int brief_produce(struct call *call, struct rows **rows)
{
    struct answer answer = {.line_count = 0};
    struct answer_request request;
    struct writer text = {0};
    struct result *result = result_new(call->function->column_count);
    if (answer_request_read(call, &request)) {
        request.evidence = true;
        if (call_answer_find(call, &request, &answer) && brief_write(&answer, &text))
            result_text(result, text.bytes, text.length);
    }
    call_answer_close(&answer);
    writer_clear(&text);
    return result_finish(result, call_code(call), rows);
}

const struct table_function trace_brief_function = {
    .name = "trace_brief",
    .family = FAMILY_THE_ANSWER,
    .question = "What can a program rely on, in a page of JSON?",
    .text =
        "the answer of trace_summary as JSON for programs, each number with the query that returns "
        "it",
    COLUMNS(columns_of_brief),
    ARGUMENTS(arguments_of_brief),
    .typical_rows = 1,
    .produce = brief_produce,
};
