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

static void add_steps(struct call *call, struct result *result, const struct call_trace *opened,
                      size_t i)
{
    const struct trace_member *member = &opened->trace.members[i];
    int64_t origin = opened->trace.origins[member->rank_index];
    (void)call;
    for (size_t s = 0; member->chosen && s < member->file->step_count; s++) {
        const struct profiler_step *step = &member->file->steps[s];
        result_integer(result, member->rank);
        result_integer(result, member->file->iterations[step->iteration]);
        result_real(result, microseconds((wide_time)step->start - origin));
        result_real(result, microseconds((wide_time)step->end - step->start));
        result_string(result, member->file->shown);
        result_integer(result, step->start);
        result_integer(result, step->end - step->start);
    }
}

static int steps_produce(struct call *call, struct rows **rows)
{
    static const struct call_trace_request request = {.default_ranks = SELECT_ALL,
                                                      .use = TRACE_FOR_STEPS};
    return call_trace_rows(call, &request, rows, add_steps);
}

const struct table_function trace_steps_function = {
    .name = "trace_steps",
    .text = "the profiler steps of a trace, a row each",
    COLUMNS(columns_of_steps),
    ARGUMENTS(arguments_of_steps),
    .reads_files = true,
    .produce = steps_produce,
};
