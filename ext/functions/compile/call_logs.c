#include "call_logs.h"

#include <string.h>

#include "base/memory.h"
#include "platform/path.h"

static bool load(struct call *call, const struct trace_paths *paths, struct compile_log *log)
{
    bool done = true;
    for (size_t i = 0; done && i < paths->count; i++)
        done = compile_load_file(log, paths->items[i].path, paths->items[i].listed,
                                 call_stopper(call), &call->failure);
    return done && compile_load_end(log, call_stopper(call), &call->failure);
}

bool call_logs_read(struct call *call, int argument, struct compile_log *log)
{
    struct trace_paths paths = {.logs = true};
    memset(log, 0, sizeof *log);
    bool done = argument_trace(call, argument, &paths) && load(call, &paths, log);
    paths_clear(&paths);
    return done;
}

/* Adds the logs in the directory of a file. */
static bool add_beside(struct call *call, const char *path, struct trace_paths *paths)
{
    char *directory = path_joined(path, "", "");
    if (!directory)
        return failure_memory(&call->failure);
    size_t length = (size_t)(path_name(directory) - directory);
    directory[length > 1 ? length - 1 : length] = 0;
    bool done = paths_add(paths, length > 0 ? directory : ".", call_stopper(call), &call->failure);
    memory_free(directory);
    return done;
}

/* Whether two paths have the same directory. */
static bool are_beside(const char *a, const char *b)
{
    size_t length = (size_t)(path_name(a) - a);
    return length == (size_t)(path_name(b) - b) && memcmp(a, b, length) == 0;
}

bool call_logs_of_trace(struct call *call, int argument, const struct trace *trace,
                        struct compile_log *log)
{
    struct trace_paths paths = {.logs = true};
    sqlite3_value *given = argument < 0 ? NULL : call->values[argument];
    memset(log, 0, sizeof *log);
    if (given && sqlite3_value_type(given) == SQLITE_TEXT && sqlite3_value_bytes(given) == 0)
        return true;
    bool done = !given || argument_trace(call, argument, &paths);
    for (size_t i = 0; done && !given && i < trace->paths.count; i++) {
        const char *path = trace->paths.items[i].path;
        if (i == 0 || !are_beside(path, trace->paths.items[i - 1].path))
            done = add_beside(call, path, &paths);
    }
    paths_sort(&paths);
    done = done && load(call, &paths, log);
    paths_clear(&paths);
    return done;
}

int call_log_rows(struct call *call, struct rows **rows, add_log_rows *add, bool whole)
{
    struct compile_log log;
    struct result *result = result_new(call->function->column_count);
    connection_begin_work(call->connection);
    if (result && call_logs_read(call, 0, &log))
        for (size_t i = 0; i < (whole ? 1 : log.process_count); i++)
            add(result, &log, i);
    connection_end_work(call->connection);
    if (result)
        compile_log_clear(&log);
    return result_finish(result, call_code(call), rows);
}

void result_process(struct result *result, const struct compile_log *log, size_t process)
{
    const char *name = log->files[log->processes[process].file].name;
    result_repaired(result, name, strlen(name));
    result_number(result, log->processes[process].rank);
}

void result_log_text(struct result *result, const struct compile_log *log, uint32_t text)
{
    result_name(result, &log->texts, text);
}

void result_log_written(struct result *result, struct writer *text)
{
    if (text->failed)
        result_lost(result);
    else if (text->length == 0)
        result_null(result);
    else
        result_repaired(result, text->bytes, text->length);
    writer_clear(text);
}
