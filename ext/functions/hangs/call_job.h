/*
** The job whose dumps an argument of a call names.
*/
#ifndef TRACEDIFF_CALL_JOB_H
#define TRACEDIFF_CALL_JOB_H

#include "analysis/hang/hang.h"
#include "chart/writer.h"
#include "sqlite/table_function.h"

#define DUMPS_ARGUMENTS \
    {"dumps", TAKES_TEXT, true, "directory with one dump of PyTorch's flight recorder per rank"}

/* Reads it. False on failure, with call->failure filled; the job is to be cleared then, too. */
bool call_job_read(struct call *call, struct fr_job *job);

/* A complete producer of a function with these arguments: `add` adds the rows of a job, or, of
** `add_hang`, those of what holds it up. */
typedef void add_job_rows(struct result *result, const struct fr_job *job);
typedef void add_hang_rows(struct result *result, const struct hang *hang);
int call_job_rows(struct call *call, struct rows **rows, add_job_rows *add);
int call_hang_rows(struct call *call, struct rows **rows, add_hang_rows *add);

/* What is wrong with a dump, or that it is not used; nothing of others. */
void write_dump_problem(struct writer *text, const struct fr_job *job, const struct fr_dump *dump);

/* Adds a text of a job, or NULL for the empty one. */
void result_job_text(struct result *result, const struct fr_job *job, uint32_t text);

/* Adds what was written and clears it; nothing written is NULL. */
void result_written(struct result *result, struct writer *text);

#endif
