/*
** The logs of TORCH_TRACE that an argument of a call names.
*/
#ifndef TRACEDIFF_CALL_LOGS_H
#define TRACEDIFF_CALL_LOGS_H

#include "chart/writer.h"
#include "compile/compile_load.h"
#include "sqlite/arguments.h"
#include "sqlite/table_function.h"

/* clang-format off */
#define LOG_ARGUMENT \
    "log", TAKES_TRACE, true, \
        "TORCH_TRACE logs: directory, file, pattern or JSON array of these"
#define OPTIONAL_LOG_ARGUMENT \
    "log", TAKES_TRACE, false, \
        "TORCH_TRACE logs (see compilations), or '' for none; default the logs beside the trace"
#define LOG_COLUMNS_OF_FILE \
    {"file", "TEXT", "name of the file"}, \
    {"rank", "INTEGER", "rank in the file's name, else in its records; NULL: none"}
/* clang-format on */

/* Reads all logs. False on failure, with call->failure filled. Clear the log in this case, too. */
bool call_logs_read(struct call *call, int argument, struct compile_log *log);

/* The same for an optional argument. Without it, reads the logs beside the files of a trace, if
** there are any; '' means no log. */
bool call_logs_of_trace(struct call *call, int argument, const struct trace *trace,
                        struct compile_log *log);

/* A complete producer: reads the logs and calls `add` for each process in turn, in the order of
** files, or only once if `whole`. */
typedef void add_log_rows(struct result *result, const struct compile_log *log, size_t process);
int call_log_rows(struct call *call, struct rows **rows, add_log_rows *add, bool whole);

/* Adds the file and the rank of a process. */
void result_process(struct result *result, const struct compile_log *log, size_t process);

/* Adds a text of the log; NULL for NAME_NONE. */
void result_log_text(struct result *result, const struct compile_log *log, uint32_t text);

/* Adds the written text and empties the writer; an empty text is NULL. */
void result_log_written(struct result *result, struct writer *text);

#endif
