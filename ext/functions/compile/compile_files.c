/*
** compile_files: the processes in logs, and the problems of the logs.
*/
#include "call_logs.h"

static const struct table_column columns_of_log_files[] = {
    LOG_COLUMNS_OF_FILE,
    {"pid", "INTEGER",
     "number of the process; NULL if the log has thread numbers instead (PyTorch 2.3)"},
    {"version", "TEXT", "version of PyTorch"},
    {"clock", "TEXT",
     "source of the year and the UTC offset of its times: 'events' or 'metrics'; NULL: not known"},
    {"utc_offset_s", "INTEGER", "s, local time minus UTC"},
    {"records", "INTEGER", "records of the process"},
    {"events", "INTEGER", "rows of compile_events"},
    {"compilations", "INTEGER", "rows of compilations"},
    {"first_ns", "INTEGER", "ns since 1970, time of the first record"},
    {"last_ns", "INTEGER", "ns since 1970, time of the last record"},
    {"lines", "INTEGER", "lines in the file"},
    {"size", "INTEGER", "bytes on disk"},
    {"problems", "TEXT", "JSON array of objects: each problem, and how often it occurs (count)"},
};

static const struct argument arguments_of_log_files[] = {{LOG_ARGUMENT}};

/* Returns the earlier or later of a time from records and a time from events. */
static int64_t time_of(const struct compile_process *process, int64_t local, int64_t event,
                       bool earliest)
{
    int64_t time = local == NUMBER_NONE || !process->clock.known
                       ? NUMBER_NONE
                       : log_time(&process->clock, local);
    if (time == NUMBER_NONE || event == NUMBER_NONE)
        return time == NUMBER_NONE ? event : time;
    return (time < event) == earliest ? time : event;
}

static void write_problems(struct writer *text, const struct compile_process *process)
{
    write_string(text, "[");
    for (size_t i = 0, count = 0; i < LOG_PROBLEMS; i++) {
        if (process->problems[i] == 0)
            continue;
        write_string(text, count++ > 0 ? ", {\"what\": " : "{\"what\": ");
        write_json_string(text, log_problem_text((enum log_problem)i));
        write_key(text, ", ", "count");
        write_integer(text, process->problems[i]);
        write_string(text, "}");
    }
    write_string(text, "]");
}

static void add_log_file(struct result *result, const struct compile_log *log, size_t i)
{
    static const char *const clocks[] = {NULL, "events", "metrics", "trace"};
    const struct compile_process *process = &log->processes[i];
    const struct compile_file *file = &log->files[process->file];
    struct writer problems = {0};
    result_process(result, log, i);
    result_number(result, process->pid);
    result_log_text(result, log, process->version);
    result_string(result, clocks[process->told]);
    result_number(result, process->clock.known ? process->clock.offset / LOG_SECOND : NUMBER_NONE);
    result_integer(result, process->records);
    result_integer(result, process->events);
    result_integer(result, process->compilations);
    result_number(result, time_of(process, process->first_local, process->first_event, true));
    result_number(result, time_of(process, process->last_local, process->last_event, false));
    result_integer(result, file->lines);
    result_integer(result, file->size);
    write_problems(&problems, process);
    result_log_written(result, &problems);
}

static int log_files_produce(struct call *call, struct rows **rows)
{
    return call_log_rows(call, rows, add_log_file, false);
}

const struct table_function compile_files_function = {
    .name = "compile_files",
    .family = FAMILY_COMPILER,
    .question = "Which logs of the compiler can be read?",
    .text =
        "the processes in TORCH_TRACE logs and the problems of their logs, one row per process",
    COLUMNS(columns_of_log_files),
    ARGUMENTS(arguments_of_log_files),
    .produce = log_files_produce,
};
