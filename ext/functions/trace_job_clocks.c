/*
** trace_job_clocks: how far the clocks of the ranks of a job are apart, step by step.
*/
#include "../analysis/job_clocks.h"
#include "../reader/memory.h"
#include "call_trace.h"

static const struct column columns_of_job_clocks[] = {
    {"rank", "INTEGER", "rank"},
    {"iteration", "INTEGER", "number of the step; NULL: outside of steps, by the collectives of all steps"},
    {"offset_ns", "INTEGER",
     "ns that its clock is ahead of that of the lowest rank (Q3); NULL: nothing ties them"},
};

enum { JOB_CLOCKS_TRACE, JOB_CLOCKS_RANKS, JOB_CLOCKS_STEPS };

static const struct argument arguments_of_job_clocks[] = {
    {TRACE_ARGUMENT},
    {"ranks", "", false, "integer, JSON array or 'all'; default 'all'"},
    {STEPS_ARGUMENT},
};

/* The numbers of the steps that have collectives, ascending, and NUMBER_NONE. NULL if out of memory. */
static int64_t *list_steps(const struct job *job, size_t *count)
{
    size_t most = 1;
    for (size_t r = 0; r < job->rank_count; r++)
        most += job->ranks[r].collective_count;
    int64_t *steps = memory_zeroed(most, sizeof *steps);
    if (!steps)
        return NULL;
    steps[0] = NUMBER_NONE;
    *count = 1;
    for (size_t r = 0; r < job->rank_count; r++)
        for (size_t i = 0; i < job->ranks[r].collective_count; i++)
            steps[(*count)++] = job->ranks[r].collectives[i].step;
    *count = sort_integers(steps, *count);
    return steps;
}

static bool add_step(struct result *result, const struct job_clocks *clocks, int64_t step)
{
    for (size_t r = 0; r < clocks->job->rank_count; r++) {
        wide_time offset = clocks->offset[r];
        bool told = clocks->tied[r] && offset >= -INT64_MAX && offset <= INT64_MAX;
        result_integer(result, clocks->job->trace->ranks[clocks->job->ranks[r].rank]);
        result_number(result, step);
        result_number(result, told ? (int64_t)offset : NUMBER_NONE);
    }
    return true;
}

static bool add_steps(struct call *call, struct result *result, const struct job *job)
{
    struct job_clocks clocks = {.job = NULL};
    size_t count = 0;
    int64_t *steps = list_steps(job, &count);
    bool done = (steps || failure_memory(&call->failure)) &&
                job_clocks_make(&clocks, job, &call->failure);
    for (size_t i = 0; i < count && done && job->rank_count > 0; i++)
        done = stopper_goes_on(job->stopper, i, &call->failure) &&
               job_clocks_find(&clocks, steps[i], &call->failure) &&
               add_step(result, &clocks, steps[i]);
    job_clocks_clear(&clocks);
    memory_free(steps);
    return done;
}

static int job_clocks_produce(struct call *call, struct rows **rows)
{
    static const struct call_trace_request request = {.trace = JOB_CLOCKS_TRACE,
                                                      .ranks = JOB_CLOCKS_RANKS,
                                                      .steps = JOB_CLOCKS_STEPS,
                                                      .default_ranks = SELECT_ALL,
                                                      .use = TRACE_FOR_DIFF};
    struct call_trace opened;
    struct job job = {.trace = NULL};
    if (!call_trace_open(call, &request, &opened))
        return SQLITE_ERROR;
    struct result *result = result_new(COUNT_OF(columns_of_job_clocks));
    (void)(job_make(&job, &opened.trace, true, &call->database->cache.stopper, &call->failure) &&
           result && add_steps(call, result, &job));
    job_clear(&job);
    call_trace_close(&opened);
    return result_finish(result, call_code(call), rows);
}

const struct table_function trace_job_clocks_function = {
    .name = "trace_job_clocks",
    .text = "how far the clocks of the ranks of a job are apart, step by step",
    COLUMNS(columns_of_job_clocks),
    ARGUMENTS(arguments_of_job_clocks),
    .reads_files = true,
    .produce = job_clocks_produce,
};
