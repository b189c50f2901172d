/*
** fr_dumps: the dumps of a directory.
*/
#include "call_job.h"

#include <string.h>

static const struct table_column columns_of_dumps[] = {
    {"rank", "INTEGER", "rank in the file's name, or the number that ends it; else NULL"},
    {"file", "TEXT", "name of the file"},
    {"version", "TEXT", "version of the dump's format, such as 2.10"},
    {"used", "INTEGER", "1: it counts, as the latest dump of its rank"},
    {"entries", "INTEGER", "calls that it has"},
    {"pending", "INTEGER", "of these, calls that are not completed; a batch is one"},
    {"timed_out", "INTEGER", "calls that have timed out, each part of a batch counted"},
    {"active_only", "INTEGER", "1: it has only calls that are not completed"},
    {"lost", "INTEGER", "calls before its first one, which were overwritten"},
    {"last_record_id", "INTEGER", "number of its last call"},
    {"last_call_ns", "INTEGER", "time of its last call, in ns since 1970"},
    {"problems", "TEXT", "why it cannot be read, or is not used; else NULL"},
};

static const struct argument arguments_of_dumps[] = {DUMPS_ARGUMENTS};

static void add_dumps(struct result *result, const struct fr_job *job)
{
    for (size_t i = 0; i < job->dump_count; i++) {
        const struct fr_dump *dump = &job->dumps[i];
        struct writer problem = {0};
        result_number(result, dump->rank >= 0 ? dump->rank : NUMBER_NONE);
        result_repaired(result, dump->file, strlen(dump->file));
        result_job_text(result, job, dump->version);
        result_integer(result, dump->fate == DUMP_IS_USED);
        result_integer(result, (int64_t)dump->count);
        result_integer(result, dump->pending);
        result_integer(result, dump->timed_out);
        result_integer(result, dump->active_only);
        result_integer(result, dump->lost);
        result_number(result, dump->last_record);
        result_number(result, dump->last_call);
        write_dump_problem(&problem, job, dump);
        result_written(result, &problem);
    }
}

static int dumps_produce(struct call *call, struct rows **rows)
{
    return call_job_rows(call, rows, add_dumps);
}

const struct table_function fr_dumps_function = {
    .name = "fr_dumps",
    .family = FAMILY_RANKS_AND_THE_JOB,
    .question = "Which dumps of a hang can be read?",
    .text = "the dumps of PyTorch's flight recorder in a directory, a row each",
    COLUMNS(columns_of_dumps),
    ARGUMENTS(arguments_of_dumps),
    .produce = dumps_produce,
};
