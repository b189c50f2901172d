#include "call_trace.h"

/* Opens the files of `paths`, and takes ownership of it. */
static bool open_files(struct call *call, const struct call_trace_request *request,
                       struct trace_paths *paths, const struct selection *ranks,
                       const struct selection *iterations, struct call_trace *opened)
{
    const char *subject = request->subject ? request->subject : "the trace";
    char *quoted = NULL;
    if (request->quoted)
        subject = quoted =
            sqlite3_mprintf("'%s'", sqlite3_value_text(call->values[request->trace]));
    struct trace_request files = {request->use, request->phases, ranks, subject};
    bool done = (subject || failure_memory(&call->failure)) &&
                trace_open(&opened->trace, paths, &call->database->cache, &files, &call->failure) &&
                (!request->iterations || trace_choose_steps(&opened->trace, iterations, subject,
                                                            &opened->steps, &call->failure));
    sqlite3_free(quoted);
    return done;
}

bool call_trace_open(struct call *call, const struct call_trace_request *request,
                     struct call_trace *opened)
{
    struct trace_paths paths = {NULL, 0, 0};
    struct selection ranks = {.kind = SELECT_DEFAULT}, iterations = {.kind = SELECT_DEFAULT};
    *opened = (struct call_trace){.trace = {.count = 0}};
    bool done = (!request->ranks || argument_selection(call, request->ranks, false, &ranks)) &&
                (!request->iterations ||
                 argument_selection(call, request->iterations, true, &iterations)) &&
                argument_trace(call, request->trace, &paths);
    if (ranks.kind == SELECT_DEFAULT)
        ranks.kind = request->default_ranks;
    if (iterations.kind == SELECT_DEFAULT)
        iterations.kind = request->default_iterations;
    done = done && open_files(call, request, &paths, &ranks, &iterations, opened);
    if (!done)
        call_trace_close(opened);
    paths_clear(&paths);
    selection_clear(&ranks);
    selection_clear(&iterations);
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
