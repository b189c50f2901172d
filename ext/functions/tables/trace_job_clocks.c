/*
** trace_job_clocks: the offsets between the clocks of a job's ranks, step by step.
*/
#include "analysis/job/job_clocks.h"
#include "base/memory.h"
#include "functions/call/call_trace.h"

static const struct table_column columns_of_job_clocks[] = {
    {"iteration", "INTEGER",
     "number of the step; NULL: outside of steps, from the collectives of all steps (iterations "
     "'all')"},
    {"rank", "INTEGER", "rank"},
    {"offset", "REAL",
     "us by which the rank's clock is ahead of the clock of the lowest rank; NULL: no collectives "
     "connect them"},
    {"offset_ns", "INTEGER",
     "ns, the same; ts_ns - offset_ns is a time on the clock of the lowest rank"},
};

static const struct argument arguments_of_job_clocks[] = {
    {TRACE_ARGUMENT},
    {"ranks", TAKES_RANKS, false, "integer, JSON array or 'all'; default 'all'"},
    {"iterations", TAKES_ITERATIONS, false, STEADY_STEPS_TEXT},
    {STEPS_ARGUMENT},
};

static void add_step(struct result *result, const struct job_clocks *clocks, int64_t step)
{
    for (size_t r = 0; r < clocks->job->rank_count; r++) {
        wide_time offset = clocks->offset[r];
        result_number(result, step);
        result_integer(result, clocks->job->trace->ranks[clocks->job->ranks[r].rank]);
        if (clocks->tied[r])
            result_real(result, microseconds(offset));
        else
            result_null(result);
        result_number(result, job_clocks_offset(clocks, r));
    }
}

static bool add_steps(struct call *call, struct result *result, const struct job *job,
                      const struct step_choice *choice)
{
    struct job_clocks clocks = {.job = NULL};
    size_t count = 0;
    int64_t *steps = job_list_steps(job, choice, &count);
    bool done = (steps || failure_memory(&call->failure)) &&
                job_clocks_make(&clocks, job, &call->failure);
    for (size_t i = 0; i < count && done; i++) {
        done = stopper_goes_on(job->stopper, i, &call->failure) &&
               job_clocks_find(&clocks, steps[i], &call->failure);
        if (done)
            add_step(result, &clocks, steps[i]);
    }
    job_clocks_clear(&clocks);
    memory_free(steps);
    return done;
}

static int job_clocks_produce(struct call *call, struct rows **rows)
{
    static const struct call_trace_request request = {.default_ranks = SELECT_ALL,
                                                      .use = TRACE_FOR_DIFF,
                                                      .job = true};
    struct call_trace opened;
    struct job job = {.trace = NULL};
    if (!call_trace_open(call, &request, &opened))
        return SQLITE_ERROR;
    struct result *result = result_new(COUNT_OF(columns_of_job_clocks));
    (void)(job_make(&job, &opened.trace, true, false, call_stopper(call), &call->failure) &&
           result && add_steps(call, result, &job, &opened.steps));
    job_clear(&job);
    call_trace_close(&opened);
    return result_finish(result, call_code(call), rows);
}

const struct table_function trace_job_clocks_function = {
    .name = "trace_job_clocks",
    .family = FAMILY_RANKS_AND_THE_JOB,
    .question = "How far are the clocks of the ranks apart?",
    .text = "clock offsets between the ranks of a job, per step",
    COLUMNS(columns_of_job_clocks),
    ARGUMENTS(arguments_of_job_clocks),
    .produce = job_clocks_produce,
};
