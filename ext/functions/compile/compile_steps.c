/*
** compile_steps: the compilations in the steps of a trace.
*/
#include "compile_join.h"

static const struct table_column columns_of_compile_steps[] = {
    {"rank", "INTEGER", "rank of the file"},
    {"step", "INTEGER", "number of the step"},
    {"id", "TEXT", "compilation, such as 0/1, the second compilation of frame 0"},
    {"part", "TEXT", "'forward', 'backward', 'aot', or 'runtime' for other work of the compiler"},
    {"name", "TEXT", "name of the outermost event"},
    {"source", "TEXT", "'log' or 'trace'"},
    {"after_ns", "INTEGER",
     "ns from the start of the step on the host to the start of the compilation"},
    {"dur_ns", "INTEGER", "ns, duration"},
    {"in_step_ns", "INTEGER", "ns of it within the step"},
    {"step_ns", "INTEGER", "ns, length of the step on the host"},
    {"recompile", "INTEGER", "1 if the frame had been compiled before, else 0"},
    {"function", "TEXT",
     "function that is compiled; NULL, like the next four columns, without a log"},
    {"place", "TEXT", "file and line of the function"},
    {"guard", "TEXT", "guard that failed"},
    {"argument", "TEXT", "name that the guard is about"},
    {"cache", "TEXT", "'hit', 'miss' or 'bypass'"},
    {"dynamo_ns", "INTEGER", "ns in Dynamo, which traces Python"},
    {"aot_ns", "INTEGER", "ns in AOTAutograd"},
    {"inductor_ns", "INTEGER", "ns in Inductor"},
    {"codegen_ns", "INTEGER", "ns of code generation, including compilers"},
};

static const struct argument arguments_of_compile_steps[] = {
    {TRACE_ARGUMENT},
    {"ranks", TAKES_RANKS, false, "integer, JSON array or 'all'; default 'all'"},
    {"iterations", TAKES_ITERATIONS, false, STEADY_STEPS_TEXT},
    {OPTIONAL_LOG_ARGUMENT},
    {STEPS_ARGUMENT},
};

static void add_item(struct result *result, const struct compile_join *join,
                     const struct compile_in_step *item)
{
    const struct compile_log *log = &join->log;
    const struct compilation *of =
        item->compilation == COMPILE_NONE ? NULL : &log->compilations[item->compilation];
    result_integer(result, item->rank);
    result_number(result, item->step);
    result_text(result, item->id, item->id_length);
    result_string(result, compile_part_name(item->part));
    result_text(result, item->name, item->name_length);
    result_string(result, item->by_log ? "log" : "trace");
    result_integer(result, item->start - item->step_start);
    result_integer(result, item->end - item->start);
    result_integer(result, compile_ns_in_step(item));
    result_integer(result, item->step_end - item->step_start);
    result_number(result, item->recompile);
    result_log_text(result, log, of ? of->function : NAME_NONE);
    result_log_text(result, log, of ? of->place : NAME_NONE);
    result_log_text(result, log, of ? of->guard : NAME_NONE);
    result_log_text(result, log, of ? of->argument : NAME_NONE);
    result_string(result, of ? compile_cache_name(compile_cache_of(of)) : NULL);
    for (size_t i = 0; i < COMPILE_PHASES; i++)
        result_number(result, item->phases[i]);
}

static int compile_steps_produce(struct call *call, struct rows **rows)
{
    enum { LOG = 3 };
    static const struct call_trace_request request = {.use = TRACE_FOR_STEPS,
                                                      .default_ranks = SELECT_ALL};
    struct call_trace opened;
    struct compile_join join = {.items = NULL};
    struct result *result = result_new(call->function->column_count);
    if (result && call_trace_open(call, &request, &opened)) {
        connection_begin_work(call->connection);
        if (compile_join_find(call, &opened, LOG, &join))
            for (size_t i = 0; i < join.count; i++)
                add_item(result, &join, &join.items[i]);
        connection_end_work(call->connection);
        compile_join_clear(&join);
        call_trace_close(&opened);
    }
    return result_finish(result, call_code(call), rows);
}

const struct table_function compile_steps_function = {
    .name = "compile_steps",
    .family = FAMILY_COMPILER,
    .question = "Which step compiles, and what does it pay for that?",
    .text =
        "compilations within the steps of a trace, with details from the log beside it if there is "
        "one",
    COLUMNS(columns_of_compile_steps),
    ARGUMENTS(arguments_of_compile_steps),
    .produce = compile_steps_produce,
};
