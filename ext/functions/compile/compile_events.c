/*
** compile_events: the compiler's spans.
*/
#include "call_logs.h"

static const struct table_column columns_of_log_events[] = {
    LOG_COLUMNS_OF_FILE,
    {"line", "INTEGER", "line of the record that begins the span"},
    {"id", "TEXT", "compilation, such as 0/1, the second compilation of frame 0"},
    {"attempt", "INTEGER", "attempt at the compilation, from 0"},
    {"depth", "INTEGER", "number of spans around it"},
    {"name", "TEXT", "name of the span"},
    {"phase", "TEXT", "'dynamo', 'aot', 'inductor' or 'codegen'"},
    {"ts_ns", "INTEGER", "ns since 1970, start"},
    {"dur_ns", "INTEGER", "ns; NULL if the span has no end, 0 for an instant"},
    {"self_ns", "INTEGER", "ns without the spans nested in it"},
};

static const struct argument arguments_of_log_events[] = {{LOG_ARGUMENT}};

static void add_log_events(struct result *result, const struct compile_log *log, size_t process)
{
    uint32_t i = log->processes[process].spans.first;
    for (; i != COMPILE_NONE; i = log->spans[i].next) {
        const struct compile_span *span = &log->spans[i];
        result_process(result, log, process);
        result_integer(result, span->line);
        result_log_text(result, log, span->id);
        result_integer(result, span->attempt);
        result_integer(result, span->depth);
        result_log_text(result, log, span->name);
        result_string(result, compile_phase_name(span->phase));
        result_integer(result, span->ts);
        result_number(result, span->dur);
        result_number(result, span->self);
    }
}

static int log_events_produce(struct call *call, struct rows **rows)
{
    return call_log_rows(call, rows, add_log_events, false);
}

const struct table_function compile_events_function = {
    .name = "compile_events",
    .family = FAMILY_COMPILER,
    .question = "What did the compiler spend its time on?",
    .text = "the spans of the compiler in TORCH_TRACE logs, one row per span",
    COLUMNS(columns_of_log_events),
    ARGUMENTS(arguments_of_log_events),
    .produce = log_events_produce,
};
