/*
** compile_breaks: the graph breaks of compilations.
*/
#include "call_logs.h"

static const struct table_column columns_of_breaks[] = {
    LOG_COLUMNS_OF_FILE,
    {"id", "TEXT", "compilation, such as 0/1"},
    {"nth", "INTEGER", "occurrence of this id, from 1"},
    {"attempt", "INTEGER", "attempt at the compilation, from 0"},
    {"function", "TEXT", "function that is compiled"},
    {"place", "TEXT", "where the graph breaks"},
    {"reason", "TEXT", "why the graph breaks"},
    {"explanation", "TEXT", "PyTorch's longer explanation; NULL if there is none"},
    {"stack", "TEXT", "the user's frames, innermost first"},
};

static const struct argument arguments_of_breaks[] = {{LOG_ARGUMENT}};

static void add_breaks(struct result *result, const struct compile_log *log, size_t process)
{
    uint32_t i = log->processes[process].breaks.first;
    for (; i != COMPILE_NONE; i = log->breaks[i].next) {
        const struct compile_break *found = &log->breaks[i];
        const struct compilation *of = &log->compilations[found->compilation];
        if (found->restart && of->breaks > 0)
            continue;
        result_process(result, log, process);
        result_log_text(result, log, of->id);
        result_integer(result, of->nth);
        result_integer(result, found->attempt);
        result_log_text(result, log, of->function);
        result_log_text(result, log, found->place);
        result_log_text(result, log, found->reason);
        result_log_text(result, log, found->explanation);
        result_log_text(result, log, found->stack);
    }
}

static int breaks_produce(struct call *call, struct rows **rows)
{
    return call_log_rows(call, rows, add_breaks, false);
}

const struct table_function compile_breaks_function = {
    .name = "compile_breaks",
    .family = FAMILY_COMPILER,
    .question = "Where do graphs break, and why?",
    .text = "the graph breaks in TORCH_TRACE logs, one row per break",
    COLUMNS(columns_of_breaks),
    ARGUMENTS(arguments_of_breaks),
    .produce = breaks_produce,
};
