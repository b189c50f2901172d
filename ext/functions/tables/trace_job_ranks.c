/*
** trace_job_ranks: the data of each rank that the path of a job depends on.
*/
#include "analysis/job/job_rows.h"
#include "functions/call/call_trace.h"
#include "functions/aggregates/job_schedule_rows.h"

static const struct table_column columns_of_job_ranks[] = {
    {"kind", "TEXT",
     "'step'; 'collective'; 'exposed': time in which a step is in a collective that no other work "
     "hides. In files without device work, 'host_collective', and 'host_wait': time in which the "
     "step's thread may wait for one"},
    {"rank", "INTEGER", "rank"},
    {"file", "TEXT", "path"},
    {"iteration", "INTEGER",
     "number of the step; NULL for 'exposed' and 'host_wait', for collectives outside of steps, "
     "and in files without steps"},
    {"start_ns", "INTEGER",
     "ns, absolute start; of a step, the start of its window; NULL for a file without events"},
    {"end_ns", "INTEGER", "ns, absolute end; NULL for a file without events"},
    {"event", "INTEGER", "position of the collective in the file's traceEvents; NULL for a step"},
    {"queued_behind", "INTEGER",
     "event of the collective that ended on the same stream at most 10 us earlier; NULL: none"},
    {"process_group", "TEXT",
     "process group of the collective; NULL: it runs on the host and cannot be matched, such as a "
     "send"},
    {"process_group_ranks", "TEXT",
     "ranks of the process group, from the args; NULL if not recorded"},
    {"name", "TEXT", "stable name of the collective"},
    {"waits_for_all", "INTEGER",
     "1 if every rank waits for all others, judged by the name (AllReduce, for example), else 0"},
};

static const struct argument arguments_of_job_ranks[] = {
    {TRACE_ARGUMENT},
    {"ranks", TAKES_RANKS, false, "integer, JSON array or 'all'; default 'all'"},
    {STEPS_ARGUMENT},
};

/* State of adding the rows of a rank. */
struct rank_lister {
    struct result *result;
    const struct trace *trace;
    const struct names *texts;
    const struct job_rank *rank;
};

/* Adds the columns that all rows have. */
static void add_place(const struct rank_lister *lister, enum job_row_kind kind, size_t member,
                      int64_t iteration, int64_t start, int64_t end)
{
    const struct trace_member *of = &lister->trace->members[member];
    result_string(lister->result, job_row_kinds[kind]);
    result_integer(lister->result, of->rank);
    result_string(lister->result, of->file->shown);
    result_number(lister->result, iteration);
    result_number(lister->result, start);
    result_number(lister->result, end);
}

/* Adds the steps of a file. */
static void add_steps(const struct rank_lister *lister, size_t member)
{
    bool any = false;
    for (size_t i = 0; i < lister->rank->window_count; i++) {
        const struct job_window *of = &lister->rank->windows[i];
        if (of->member != member)
            continue;
        add_place(lister, JOB_ROW_STEP, member, of->window.iteration, of->window.start,
                  of->window.end);
        result_nulls(lister->result, 6);
        any = true;
    }
    if (any)
        return;
    add_place(lister, JOB_ROW_STEP, member, NUMBER_NONE, NUMBER_NONE, NUMBER_NONE);
    result_nulls(lister->result, 6);
}

/* Returns the position of a collective in traceEvents. */
static int64_t event_of(const struct rank_lister *lister, uint32_t index)
{
    const struct job_collective *collective = &lister->rank->collectives[index];
    return lister->trace->members[collective->member].file->columns.event[collective->row];
}

static void add_collective(const struct rank_lister *lister, uint32_t index)
{
    const struct job_collective *collective = &lister->rank->collectives[index];
    struct result *result = lister->result;
    bool apart = collective->on_host && collective->outside;
    add_place(lister, collective->on_host ? JOB_ROW_HOST_COLLECTIVE : JOB_ROW_COLLECTIVE,
              collective->member, collective->step, collective->start, collective->end);
    result_integer(result, event_of(lister, index));
    result_number(result, collective->before == JOB_NONE ? NUMBER_NONE
                                                         : event_of(lister, collective->before));
    result_name(result, lister->texts, apart ? NAME_NONE : collective->group);
    result_name(result, lister->texts, collective->ranks);
    result_name(result, lister->texts, collective->name);
    result_integer(result, collective->by_all);
}

static void add_part(const struct rank_lister *lister, const struct job_part *part)
{
    const struct job_rank *rank = lister->rank;
    bool waits = part->owner == JOB_NONE;
    int64_t from;
    size_t member = waits ? rank->windows[job_rank_window(rank, part->end, &from)].member
                          : rank->collectives[part->owner].member;
    add_place(lister, waits ? JOB_ROW_HOST_WAIT : JOB_ROW_EXPOSED, member, NUMBER_NONE, part->start,
              part->end);
    result_number(lister->result, waits ? NUMBER_NONE : event_of(lister, part->owner));
    result_nulls(lister->result, 5);
}

/* Adds the rows of a rank. */
static bool add_rank(const struct rank_lister *lister, size_t index, const struct stopper *stopper,
                     struct failure *failure)
{
    const struct job_rank *rank = lister->rank;
    const struct trace *trace = lister->trace;
    bool done = true;
    for (size_t i = 0; i < trace->count; i++)
        if (trace->members[i].chosen && trace->members[i].rank_index == index)
            add_steps(lister, i);
    for (size_t i = 0; done && i < rank->collective_count; i++) {
        add_collective(lister, (uint32_t)i);
        done = stopper_goes_on(stopper, i, failure);
    }
    for (size_t i = 0; done && i < rank->part_count; i++) {
        add_part(lister, &rank->parts[i]);
        done = stopper_goes_on(stopper, i, failure);
    }
    return done;
}

static int job_ranks_produce(struct call *call, struct rows **rows)
{
    static const struct call_trace_request request = {.default_ranks = SELECT_ALL,
                                                      .use = TRACE_FOR_DIFF};
    const struct stopper *stopper = call_stopper(call);
    struct call_trace opened;
    if (!call_trace_open(call, &request, &opened))
        return SQLITE_ERROR;
    const struct trace *trace = &opened.trace;
    struct result *result = result_new(COUNT_OF(columns_of_job_ranks));
    bool done = result || failure_memory(&call->failure);
    for (size_t r = 0; done && r < trace->rank_count; r++) {
        struct names texts = {.count = 0};
        struct job_rank rank;
        done = job_rank_make(&rank, trace, r, true, false, &texts, stopper, &call->failure);
        struct rank_lister lister = {
            .result = result, .trace = trace, .texts = &texts, .rank = &rank};
        if (done) {
            done = add_rank(&lister, r, stopper, &call->failure);
            job_rank_clear(&rank);
        }
        names_clear(&texts);
    }
    call_trace_close(&opened);
    return result_finish(result, call_code(call), rows);
}

const struct table_function trace_job_ranks_function = {
    .name = "trace_job_ranks",
    .family = FAMILY_RANKS_AND_THE_JOB,
    .question = "Which rows of each rank does the path of a job need?",
    .text =
        "the rows of each rank that trace_job_schedule needs; run it where the rank's files are",
    COLUMNS(columns_of_job_ranks),
    ARGUMENTS(arguments_of_job_ranks),
    .produce = job_ranks_produce,
};
