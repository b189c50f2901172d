#include "call_job.h"

#include <string.h>

#include "dumps/fr_job_load.h"
#include "sqlite/arguments.h"

bool call_job_read(struct call *call, struct fr_job *job)
{
    const char *directory;
    memset(job, 0, sizeof *job);
    return argument_name(call, 0, "a directory", &directory) && directory &&
           fr_job_load(job, directory, call_stopper(call), &call->failure);
}

int call_job_rows(struct call *call, struct rows **rows, add_job_rows *add)
{
    struct fr_job job;
    struct result *result = result_new(call->function->column_count);
    connection_begin_work(call->connection);
    if (result && call_job_read(call, &job))
        add(result, &job);
    connection_end_work(call->connection);
    if (result)
        fr_job_clear(&job);
    return result_finish(result, call_code(call), rows);
}

int call_hang_rows(struct call *call, struct rows **rows, add_hang_rows *add)
{
    struct fr_job job;
    struct hang hang = {.job = NULL};
    struct result *result = result_new(call->function->column_count);
    connection_begin_work(call->connection);
    if (result && call_job_read(call, &job) &&
        hang_find(&hang, &job, call_stopper(call), &call->failure))
        add(result, &hang);
    connection_end_work(call->connection);
    hang_clear(&hang);
    if (result)
        fr_job_clear(&job);
    return result_finish(result, call_code(call), rows);
}

void write_dump_problem(struct writer *text, const struct fr_job *job, const struct fr_dump *dump)
{
    if (dump->fate == DUMP_IS_UNREADABLE) {
        write_string(text, dump->problem);
    } else if (dump->fate == DUMP_HAS_NO_RANK) {
        write_string(text, "its name has no rank");
    } else if (dump->fate == DUMP_IS_SECOND) {
        write_string(text, "not used: rank ");
        write_integer(text, dump->rank);
        write_string(text, " has ");
        write_string(text, job->dumps[dump->other].file);
    }
}

void result_job_text(struct result *result, const struct fr_job *job, uint32_t text)
{
    if (text == FR_EMPTY || text == NAME_NONE)
        result_null(result);
    else
        result_named(result, fr_text(job, text));
}

void result_written(struct result *result, struct writer *text)
{
    if (text->failed)
        result_lost(result);
    else if (text->length == 0)
        result_null(result);
    else
        result_repaired(result, text->bytes, text->length);
    writer_clear(text);
}
