/*
** compile_guards: the guards of compilations.
*/
#include "call_logs.h"

static const struct table_column columns_of_guards[] = {
    LOG_COLUMNS_OF_FILE,
    {"id", "TEXT", "compilation, such as 0/1"},
    {"nth", "INTEGER", "occurrence of this id, from 1"},
    {"number", "INTEGER", "number of the guard, from 0"},
    {"guard", "TEXT", "condition that the guard checks"},
    {"place", "TEXT", "where the program caused the guard; NULL if not recorded"},
};

static const struct argument arguments_of_guards[] = {{LOG_ARGUMENT}};

static void add_guards(struct result *result, const struct compile_log *log, size_t process)
{
    uint32_t i = log->processes[process].guards.first;
    for (; i != COMPILE_NONE; i = log->guards[i].next) {
        const struct compile_guard *guard = &log->guards[i];
        const struct compilation *of = &log->compilations[guard->compilation];
        result_process(result, log, process);
        result_log_text(result, log, of->id);
        result_integer(result, of->nth);
        result_integer(result, guard->number);
        result_log_text(result, log, guard->guard);
        result_log_text(result, log, guard->place);
    }
}

static int guards_produce(struct call *call, struct rows **rows)
{
    return call_log_rows(call, rows, add_guards, false);
}

const struct table_function compile_guards_function = {
    .name = "compile_guards",
    .family = FAMILY_COMPILER,
    .question = "What must hold for compiled code to be used?",
    .text = "the guards in TORCH_TRACE logs, one row per guard",
    COLUMNS(columns_of_guards),
    ARGUMENTS(arguments_of_guards),
    .produce = guards_produce,
};
