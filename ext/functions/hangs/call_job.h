/*
** The job whose dumps are named by an argument of a call.
*/
#ifndef TRACEDIFF_CALL_JOB_H
#define TRACEDIFF_CALL_JOB_H

#include "analysis/hang/hang.h"
#include "chart/writer.h"
#include "sqlite/table_function.h"

#define DUMPS_ARGUMENTS \
    {"dumps", TAKES_TEXT, true, "directory with one dump of PyTorch's flight recorder per rank"}

/* Reads the job. False on failure, with call->failure filled. Clear the job in this case, too. */
bool call_job_read(struct call *call, struct fr_job *job);

/* Complete producers for functions with these arguments: `add` adds the rows of a job or, for
** hangs, the rows of its analysis. */
typedef void add_job_rows(struct result *result, const struct fr_job *job);
typedef void add_hang_rows(struct result *result, const struct hang *hang);
int call_job_rows(struct call *call, struct rows **rows, add_job_rows *add);
int call_hang_rows(struct call *call, struct rows **rows, add_hang_rows *add);

/* Writes the problem of a dump, or that the dump is not used; nothing if it is fine. */
void write_dump_problem(struct writer *text, const struct fr_job *job, const struct fr_dump *dump);

/* Adds a text of a job; NULL if it is empty. */
void result_job_text(struct result *result, const struct fr_job *job, uint32_t text);

/* Adds the written text and empties the writer; an empty text is NULL. */
void result_written(struct result *result, struct writer *text);

#endif
