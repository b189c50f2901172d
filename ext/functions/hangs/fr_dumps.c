/*
** fr_dumps: the dumps of a directory.
*/
#include "call_job.h"

#include <string.h>

static const struct table_column columns_of_dumps[] = {
    {"rank", "INTEGER", "rank in the file's name, else the number at its end; NULL: neither"},
    {"file", "TEXT", "name of the file"},
    {"version", "TEXT", "version of the dump's format, such as 2.10"},
    {"used", "INTEGER", "1 if this is the latest dump of its rank, which is used; else 0"},
    {"entries", "INTEGER", "number of calls in the dump"},
    {"pending", "INTEGER", "calls that are not completed; a batch counts once"},
    {"timed_out", "INTEGER", "calls that have timed out; each part of a batch counts"},
    {"active_only", "INTEGER", "1 if the dump has only calls that are not completed"},
    {"lost", "INTEGER", "calls before the first one in the dump, which were overwritten"},
    {"last_record_id", "INTEGER", "number of the last call"},
    {"last_call_ns", "INTEGER", "ns since 1970, time of the last call"},
    {"problems", "TEXT", "why the dump cannot be read or is not used; else NULL"},
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
    .text = "the dumps of PyTorch's flight recorder in a directory, one row per file",
    COLUMNS(columns_of_dumps),
    ARGUMENTS(arguments_of_dumps),
    .produce = dumps_produce,
};
