/*
** compilations: the compilations of torch.compile.
*/
#include "call_logs.h"

static const struct table_column columns_of_compilations[] = {
    LOG_COLUMNS_OF_FILE,
    {"id", "TEXT", "FRAME/NUMBER, such as 0/1, the second compilation of frame 0"},
    {"nth", "INTEGER", "occurrence of this id, from 1: ids restart after torch._dynamo.reset()"},
    {"part", "TEXT", "'forward', 'backward' or 'aot'"},
    {"attempts", "INTEGER", "number of attempts: a graph break starts another"},
    {"function", "TEXT", "function that is compiled"},
    {"place", "TEXT", "file (last two components of its path) and line of the function"},
    {"caller", "TEXT", "innermost frame of the user's code that calls it"},
    {"source", "TEXT",
     "source of its times: 'events', 'metrics' or 'records'; 'open' if it has no end"},
    {"start_ns", "INTEGER", "ns since 1970, start"},
    {"dur_ns", "INTEGER", "ns, duration"},
    {"dynamo_ns", "INTEGER", "ns in Dynamo, which traces Python"},
    {"aot_ns", "INTEGER", "ns in AOTAutograd"},
    {"inductor_ns", "INTEGER", "ns in Inductor"},
    {"codegen_ns", "INTEGER", "ns of code generation, including compilers"},
    {"cache", "TEXT", "'hit', 'miss' or 'bypass', from the next two columns"},
    {"cache_aot", "TEXT", "cache lookup of AOTAutograd"},
    {"cache_fx", "TEXT", "cache lookup of Inductor"},
    {"recompile", "INTEGER", "1 if the frame had been compiled before, else 0"},
    {"guard", "TEXT", "guard that failed, without object ids; NULL: none"},
    {"argument", "TEXT", "name that the guard is about; NULL: none"},
    {"guard_place", "TEXT", "where the program caused the guard; NULL if not recorded"},
    {"breaks", "INTEGER", "number of graph breaks"},
    {"restarts", "INTEGER", "number of reasons to start again"},
    {"fail_type", "TEXT", "exception that made it fail; NULL: it did not fail"},
    {"fail_reason", "TEXT", "message of the exception"},
    {"ops", "INTEGER", "number of operators in the graph"},
    {"nodes", "INTEGER", "number of nodes in the graph"},
    {"guards", "INTEGER", "number of guards"},
};

static const struct argument arguments_of_compilations[] = {{LOG_ARGUMENT}};

static void add_compilations(struct result *result, const struct compile_log *log, size_t process)
{
    uint32_t i = log->processes[process].found.first;
    for (; i != COMPILE_NONE; i = log->compilations[i].next) {
        const struct compilation *of = &log->compilations[i];
        result_process(result, log, process);
        result_log_text(result, log, of->id);
        result_integer(result, of->nth);
        result_string(result, compile_part_name(of->part));
        result_integer(result, of->attempts);
        result_log_text(result, log, of->function);
        result_log_text(result, log, of->place);
        result_log_text(result, log, of->caller);
        result_string(result, compile_source_name(of->source));
        result_number(result, of->start);
        result_number(result, of->dur);
        for (size_t k = 0; k < COMPILE_PHASES; k++)
            result_number(result, of->phases[k]);
        result_string(result, compile_cache_name(compile_cache_of(of)));
        result_string(result, compile_cache_name(of->cache_aot));
        result_string(result, compile_cache_name(of->cache_fx));
        result_integer(result, of->recompile);
        result_log_text(result, log, of->guard);
        result_log_text(result, log, of->argument);
        result_log_text(result, log, of->guard_place);
        result_integer(result, of->breaks);
        result_integer(result, of->restarts);
        result_log_text(result, log, of->fail_type);
        result_log_text(result, log, of->fail_reason);
        result_number(result, of->ops);
        result_number(result, of->nodes);
        result_number(result, of->guards);
    }
}

static int compilations_produce(struct call *call, struct rows **rows)
{
    return call_log_rows(call, rows, add_compilations, false);
}

const struct table_function compilations_function = {
    .name = "compilations",
    .family = FAMILY_COMPILER,
    .question = "What was compiled, why again, how long?",
    .text = "the compilations in TORCH_TRACE logs, one row per compilation",
    COLUMNS(columns_of_compilations),
    ARGUMENTS(arguments_of_compilations),
    .produce = compilations_produce,
};
