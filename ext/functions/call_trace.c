#include "call_trace.h"

/* What the arguments of a call say about a trace. */
struct wanted_trace {
    struct trace_paths paths;
    struct selection ranks, iterations;
    struct step_patterns steps;
    const char *subject; /* its name in errors */
    char *quoted;        /* owned; NULL: none */
};

static bool path_of_request(struct call *call, const char *path, struct trace_paths *paths)
{
    if (!paths_add(paths, path, &call->failure))
        return false;
    paths_sort(paths);
    return paths->count > 0 || paths_none(path, &call->failure);
}

static bool read_arguments(struct call *call, const struct call_trace_request *request,
                           struct wanted_trace *wanted)
{
    if ((request->ranks && !argument_selection(call, request->ranks, false, &wanted->ranks)) ||
        (request->iterations &&
         !argument_selection(call, request->iterations, true, &wanted->iterations)) ||
        (request->steps && !argument_steps(call, request->steps, &wanted->steps)) ||
        !(request->path ? path_of_request(call, request->path, &wanted->paths)
                        : argument_trace(call, request->trace, &wanted->paths)))
        return false;
    if (wanted->ranks.kind == SELECT_DEFAULT)
        wanted->ranks.kind = request->default_ranks;
    if (wanted->iterations.kind == SELECT_DEFAULT)
        wanted->iterations.kind = request->default_iterations;
    if (request->iterations && wanted->iterations.kind == SELECT_DEFAULT &&
        wanted->steps.wish.kind == STEPS_AUTO)
        wanted->steps.wish.kind = STEPS_PROFILER; /* T23.3 */
    wanted->subject = request->subject ? request->subject : "the trace";
    if (request->quoted)
        wanted->subject = wanted->quoted = sqlite3_mprintf(
            "'%s'", request->path ? request->path
                                  : (const char *)sqlite3_value_text(call->values[request->trace]));
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
                                          .subject = wanted[i].subject};
    }
    done = done && trace_open(traces, files, count, &call->database->cache, &call->failure);
    for (size_t i = 0; i < count; i++) {
        opened[i].job = wanted[i].ranks.job || requests[i].job;
        if (done && requests[i].iterations)
            done = trace_choose_steps(traces[i], &wanted[i].iterations, opened[i].job,
                                      wanted[i].subject, &opened[i].steps, &call->failure);
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

bool call_sides_open(struct call *call, int control, int ranks, int iterations,
                     enum selection_kind default_iterations, int steps, struct call_trace *opened)
{
    struct call_trace_request requests[] = {{.trace = control,
                                             .ranks = ranks,
                                             .iterations = iterations,
                                             .default_iterations = default_iterations,
                                             .steps = steps,
                                             .use = TRACE_FOR_DIFF,
                                             .subject = "control"},
                                            {.trace = control + 1,
                                             .ranks = ranks + 1,
                                             .iterations = iterations + 1,
                                             .default_iterations = default_iterations,
                                             .steps = steps,
                                             .use = TRACE_FOR_DIFF,
                                             .subject = "test"}};
    return call_traces_open(call, requests, 2, opened);
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
