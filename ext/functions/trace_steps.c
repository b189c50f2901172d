/*
** trace_steps: the profiler steps of a trace.
*/
#include "call_trace.h"

static const struct column columns_of_steps[] = {
    {"rank", "INTEGER", "rank of the file"},
    {"iteration", "INTEGER", "N of ProfilerStep#N"},
    {"ts", "REAL", "us from the earliest event of the rank"},
    {"dur", "REAL", "us"},
    {"file", "TEXT", "path"},
    {"ts_ns", "INTEGER", "ns, absolute"},
    {"dur_ns", "INTEGER", "ns"},
};

static const struct argument arguments_of_steps[] = {{TRACE_ARGUMENT}};

static void add_step(struct result *result, const struct trace *trace,
                     const struct trace_member *member, const struct profiler_step *step)
{
    wide_time start = step->start, origin = trace->origins[member->rank_index];
    result_integer(result, member->rank);
    result_integer(result, member->file->iterations[step->iteration]);
    result_real(result, microseconds(start - origin));
    result_real(result, microseconds(step->end - start));
    result_string(result, member->file->shown);
    result_integer(result, step->start);
    result_integer(result, step->end - step->start);
}

static int steps_produce(struct call *call, struct rows **rows)
{
    static const struct call_trace_request request = {.default_ranks = SELECT_ALL,
                                                      .use = TRACE_FOR_STEPS};
    struct call_trace opened;
    if (!call_trace_open(call, &request, &opened))
        return SQLITE_ERROR;
    struct result *result = result_new(call->function->column_count);
    for (size_t i = 0; i < opened.trace.count; i++) {
        const struct trace_member *member = &opened.trace.members[i];
        for (size_t step = 0; member->chosen && step < member->file->step_count; step++)
            add_step(result, &opened.trace, member, &member->file->steps[step]);
    }
    call_trace_close(&opened);
    return result_finish(result, SQLITE_OK, rows);
}

const struct table_function trace_steps_function = {
    .name = "trace_steps",
    .text = "the profiler steps of a trace, a row each",
    COLUMNS(columns_of_steps),
    ARGUMENTS(arguments_of_steps),
    .reads_files = true,
    .produce = steps_produce,
};
