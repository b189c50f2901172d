#include "call_trace.h"

#include <string.h>

#include "base/memory.h"
#include "trace/opening.h"

/* A trace and its selections according to the arguments of a call. */
struct wanted_trace {
    struct trace_paths paths;
    struct selection ranks, iterations;
    bool of_steps; /* the function selects iterations */
    struct step_patterns steps;
    const char *subject; /* the trace's name in errors */
    char *quoted;        /* owned; NULL: none */
};

static bool path_of_request(struct call *call, const char *path, struct trace_paths *paths)
{
    if (!paths_add(paths, path, call_stopper(call), &call->failure))
        return false;
    paths_sort(paths);
    return paths->count > 0 || paths_none(paths, path, call_stopper(call), &call->failure);
}

bool call_selection(struct call *call, const struct selection *given, int argument,
                    struct selection *selection)
{
    if (given)
        return selection_copy(selection, given) || failure_memory(&call->failure);
    return argument < 0 || argument_selection(call, argument, selection);
}

static bool read_arguments(struct call *call, const struct call_trace_request *request,
                           struct wanted_trace *wanted)
{
    int trace = argument_of(call, request->capture ? NAMES_CAPTURE : NAMES_TRACE, request->side);
    int ranks = request->whole ? -1 : argument_of(call, NAMES_RANKS, request->side);
    int steps = argument_of(call, NAMES_STEPS, 0);
    int iterations = request->whole ? -1 : argument_of(call, NAMES_ITERATIONS, request->side);
    wanted->of_steps = iterations >= 0;
    if (!call_selection(call, request->ranks, ranks, &wanted->ranks) ||
        !call_selection(call, request->iterations, iterations, &wanted->iterations) ||
        (steps >= 0 && !argument_steps(call, steps, &wanted->steps)) ||
        !(request->path ? path_of_request(call, request->path, &wanted->paths)
                        : argument_trace(call, trace, &wanted->paths)))
        return false;
    if (wanted->ranks.kind == SELECT_DEFAULT)
        wanted->ranks.kind = ranks < 0 ? SELECT_ALL : request->default_ranks;
    if ((request->of_profiler || wanted->iterations.kind == SELECT_FIRST) &&
        wanted->steps.wish.kind == STEPS_AUTO)
        wanted->steps.wish.kind = STEPS_PROFILER; /* T23.3 */
    wanted->subject = request->subject ? request->subject : "the trace";
    if (request->quoted) {
        const char *given = (const char *)sqlite3_value_text(call->values[trace]);
        wanted->subject = wanted->quoted =
            sqlite3_mprintf("'%s'", request->path ? request->path : given);
    }
    return wanted->subject || failure_memory(&call->failure);
}

static void wanted_trace_clear(struct wanted_trace *wanted)
{
    paths_clear(&wanted->paths);
    selection_clear(&wanted->ranks);
    selection_clear(&wanted->iterations);
    step_patterns_clear(&wanted->steps);
    sqlite3_free(wanted->quoted);
}

bool call_traces_open(struct call *call, const struct call_trace_request *requests, size_t count,
                      struct call_trace *opened)
{
    struct wanted_trace wanted[MOST_TRACES];
    struct trace *traces[MOST_TRACES];
    struct trace_request files[MOST_TRACES];
    bool done = true;
    for (size_t i = 0; i < count; i++) {
        opened[i] = (struct call_trace){.trace = {.count = 0}};
        wanted[i] = (struct wanted_trace){.ranks = {.kind = SELECT_DEFAULT},
                                          .iterations = {.kind = SELECT_DEFAULT}};
        done = done && read_arguments(call, &requests[i], &wanted[i]);
        traces[i] = &opened[i].trace;
        files[i] = (struct trace_request){.paths = &wanted[i].paths,
                                          .use = requests[i].use,
                                          .phases = requests[i].phases,
                                          .ranks = &wanted[i].ranks,
                                          .steps = &wanted[i].steps.wish,
                                          .subject = wanted[i].subject,
                                          .captures = requests[i].capture};
    }
    done = done && trace_open(traces, files, count, &call->connection->cache, &call->failure);
    for (size_t i = 0; i < count; i++) {
        opened[i].job = wanted[i].ranks.job || requests[i].job;
        enum step_owners owners = opened[i].job ? STEPS_OF_JOB : STEPS_OF_RANKS;
        if (done && wanted[i].of_steps)
            done = trace_choose_steps(traces[i], &wanted[i].iterations, owners, wanted[i].subject,
                                      &opened[i].steps, &call->failure);
        wanted_trace_clear(&wanted[i]);
    }
    for (size_t i = 0; !done && i < count; i++)
        call_trace_close(&opened[i]);
    return done;
}

bool call_trace_open(struct call *call, const struct call_trace_request *request,
                     struct call_trace *opened)
{
    return call_traces_open(call, request, 1, opened);
}

bool call_common_ranks(struct call *call, struct common_ranks *common)
{
    struct call_trace_request requests[2];
    struct call_trace opened[2];
    struct selection iterations[2] = {{.kind = SELECT_DEFAULT}, {.kind = SELECT_DEFAULT}};
    bool done = true;
    *common = (struct common_ranks){.count = 0};
    for (int i = 0; i < 2; i++) {
        requests[i] = (struct call_trace_request){
            .side = i, .whole = true, .use = TRACE_FOR_EVENTS};
        done = done &&
               argument_selection(call, argument_of(call, NAMES_ITERATIONS, i), &iterations[i]);
        requests[i].of_profiler = iterations[i].kind == SELECT_FIRST;
    }
    if (done && (done = call_traces_open(call, requests, 2, opened))) {
        const struct trace sides[2] = {opened[0].trace, opened[1].trace};
        done = common_ranks_find(common, sides, iterations, &call->failure);
        for (int i = 0; i < 2; i++)
            call_trace_close(&opened[i]);
    }
    for (int i = 0; i < 2; i++)
        selection_clear(&iterations[i]);
    return done;
}

static const char *const subjects[] = {"control", "test"};

bool call_sides_open_as(struct call *call, const struct call_sides_request *request,
                        struct call_trace *opened)
{
    struct call_trace_request requests[2];
    for (int i = 0; i < 2; i++)
        requests[i] = (struct call_trace_request){.side = i,
                                                  .use = TRACE_FOR_DIFF,
                                                  .subject = subjects[i],
                                                  .quoted = request->quoted,
                                                  .ranks = request->ranks[i],
                                                  .iterations = request->iterations[i]};
    return call_traces_open(call, requests, 2, opened);
}

bool call_sides_open(struct call *call, struct call_trace *opened)
{
    const struct call_sides_request request = {.quoted = false};
    return call_sides_open_as(call, &request, opened);
}

bool call_trace_of_rank(struct call *call, const struct call_trace *from, int side, int64_t rank,
                        const struct selection *iterations, struct call_trace *opened)
{
    struct selection wanted = {.kind = SELECT_DEFAULT};
    *opened = (struct call_trace){.trace = {.count = 0}};
    bool done =
        call_selection(call, iterations, argument_of(call, NAMES_ITERATIONS, side), &wanted) &&
        trace_of_rank(&opened->trace, &from->trace, rank, &call->failure) &&
        trace_choose_steps(&opened->trace, &wanted, STEPS_OF_RANKS, subjects[side], &opened->steps,
                           &call->failure);
    selection_clear(&wanted);
    if (!done)
        call_trace_close(opened);
    return done;
}

void call_trace_close(struct call_trace *opened)
{
    step_choice_clear(&opened->trace, &opened->steps);
    trace_close(&opened->trace);
}

const unsigned char *call_trace_steps(const struct call_trace *opened, size_t member)
{
    return opened->steps.everything ? NULL : opened->steps.chosen[member];
}

bool call_trace_has_steps(const struct call_trace *opened)
{
    for (size_t i = 0; i < opened->trace.count; i++)
        if (opened->trace.members[i].chosen && opened->trace.members[i].steps->count > 0)
            return true;
    return false;
}

size_t call_trace_memory(const struct call_trace *opened)
{
    size_t memory = 0;
    for (size_t i = 0; i < opened->trace.count; i++)
        if (opened->trace.members[i].chosen)
            memory += file_memory(opened->trace.members[i].file);
    return memory;
}

int call_trace_rows(struct call *call, const struct call_trace_request *request, struct rows **rows,
                    void (*add)(struct call *call, struct result *result,
                                const struct call_trace *opened, size_t member))
{
    struct call_trace opened;
    struct result *result = result_new(call->function->column_count);
    bool open = call_trace_open(call, request, &opened);
    for (size_t i = 0; open && i < opened.trace.count && call_code(call) == SQLITE_OK; i++)
        add(call, result, &opened, i);
    call_trace_close(&opened);
    return result_finish(result, call_code(call), rows);
}
