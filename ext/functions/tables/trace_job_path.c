/*
** trace_job_path: the rank that the path of a job is on, over time.
*/
#include "analysis/job/job_schedule.h"
#include "functions/call/call_trace.h"

static const struct table_column columns_of_job_path[] = {
    {"iteration", "INTEGER", "number of the step; NULL in files without steps"},
    {"seq", "INTEGER", "0, 1, ... within the step, by time"},
    {"rank", "INTEGER", "rank on which the path is"},
    {"ts", "REAL", "us from the earliest event of the lowest rank, on the clock of that rank"},
    {"dur", "REAL", "us; 0 for a step of no length"},
    {"waiting_rank", "INTEGER",
     "rank that waits for this one at the end of the stretch; NULL: none, because the path stays "
     "on its rank or the trace ends"},
    {"collective", "TEXT",
     "stable name of the collective in which it waits; NULL without waiting_rank"},
    {"process_group", "TEXT", "process group of that collective; NULL without waiting_rank"},
    {"queued", "TEXT",
     "stable name of the collective that fills this stretch, because the awaited collective is "
     "queued behind it or the host waits for its transfer; NULL: none"},
    {"ts_ns", "INTEGER", "ns, absolute"},
    {"dur_ns", "INTEGER", "ns"},
    {"not_matched", "INTEGER", "collectives of all steps that could not be matched across ranks"},
    {"not_tied", "INTEGER",
     "ranks left out of the path because no collectives tie their clocks to the others"},
};

static const struct argument arguments_of_job_path[] = {
    {TRACE_ARGUMENT},
    {"ranks", TAKES_RANKS_OR_JOB, false,
     "integer, JSON array, 'all', or 'job' (all ranks as one); default 'job'"},
    {"iterations", TAKES_ITERATIONS, false, STEADY_STEPS_TEXT},
    {STEPS_ARGUMENT},
};

/* State of adding the rows of a call. */
struct job_lister {
    struct result *result;
    const struct call_trace *opened;
    struct job job;
    struct job_schedule schedule;
};

/* Adds a row; `stretch` is NULL for a window of length 0. */
static void add_row(const struct job_lister *lister, const struct window *window, int64_t seq,
                    const struct job_stretch *stretch)
{
    struct result *result = lister->result;
    const struct job *job = &lister->job;
    const struct trace *trace = &lister->opened->trace;
    const struct job_rank *reference = &job->ranks[0];
    const struct job_rank *rank = stretch ? &job->ranks[stretch->rank] : reference;
    bool waits = stretch && stretch->waiting != JOB_NONE;
    const struct job_rank *waiting = waits ? &job->ranks[stretch->waiting] : NULL;
    const struct job_collective *awaited =
        waits ? &waiting->collectives[stretch->awaited] : NULL;
    const struct job_collective *queued =
        stretch && stretch->queued != JOB_NONE ? &rank->collectives[stretch->queued] : NULL;
    int64_t start = stretch ? stretch->start : window->start;
    wide_time dur = stretch ? (wide_time)stretch->end - start : 0;
    result_number(result, window->iteration);
    result_integer(result, seq);
    result_integer(result, trace->ranks[rank->rank]);
    result_real(result, microseconds((wide_time)start - trace->origins[reference->rank]));
    result_real(result, microseconds(dur));
    result_number(result, waits ? trace->ranks[waiting->rank] : NUMBER_NONE);
    result_name(result, &job->texts, waits ? awaited->name : NAME_NONE);
    result_name(result, &job->texts, waits ? awaited->group : NAME_NONE);
    result_name(result, &job->texts, queued ? queued->name : NAME_NONE);
    result_integer(result, start);
    result_integer(result, (int64_t)dur);
    result_integer(result, (int64_t)job->not_matched);
    result_integer(result, (int64_t)lister->schedule.not_tied);
}

/* Adds the rows of the chosen windows, from the first one on. */
static bool add_rows(const struct job_lister *lister, const struct stopper *stopper,
                     struct failure *failure)
{
    const struct job_rank *reference = &lister->job.ranks[0];
    const struct step_choice *choice = &lister->opened->steps;
    size_t left = lister->schedule.count;
    for (size_t i = 0; i < reference->window_count; i++) {
        const struct job_window *of = &reference->windows[i];
        const struct window *window = &of->window;
        bool chosen = window->step == STEP_NONE ? choice->everything
                                                : choice->chosen[of->member][window->step];
        int64_t seq = 0;
        for (; left > 0 && lister->schedule.items[left - 1].window == i; left--) {
            if (chosen)
                add_row(lister, window, seq++, &lister->schedule.items[left - 1]);
            if (!stopper_goes_on(stopper, left, failure))
                return false;
        }
        if (chosen && seq == 0)
            add_row(lister, window, 0, NULL);
    }
    return true;
}

static int job_path_produce(struct call *call, struct rows **rows)
{
    static const struct call_trace_request request = {.default_ranks = SELECT_ALL,
                                                      .use = TRACE_FOR_DIFF,
                                                      .job = true};
    const struct stopper *stopper = call_stopper(call);
    struct call_trace opened;
    if (!call_trace_open(call, &request, &opened))
        return SQLITE_ERROR;
    struct job_lister lister = {.result = result_new(COUNT_OF(columns_of_job_path)),
                                .opened = &opened};
    bool done = job_make(&lister.job, &opened.trace, true, false, stopper, &call->failure) &&
                job_schedule_make(&lister.schedule, &lister.job, &call->failure);
    if (done && lister.result)
        (void)add_rows(&lister, stopper, &call->failure);
    job_schedule_clear(&lister.schedule);
    job_clear(&lister.job);
    call_trace_close(&opened);
    return result_finish(lister.result, call_code(call), rows);
}

const struct table_function trace_job_path_function = {
    .name = "trace_job_path",
    .family = FAMILY_RANKS_AND_THE_JOB,
    .question = "Which rank holds up the job, and when?",
    .text = "the critical path of a job: which rank the others wait for, and when",
    COLUMNS(columns_of_job_path),
    ARGUMENTS(arguments_of_job_path),
    .produce = job_path_produce,
};
