/*
** trace_job_schedule() and trace_job_offsets(), aggregates that find the path of a job and the
** clocks of its ranks from rows of trace_job_ranks (Q7.3). They return JSON.
**
** 1. Rows may come in any order. A value is NULL exactly where trace_job_ranks has NULL; any other
**    value in its place, or rows that do not fit together, are errors.
** 2. Without rows, the array is empty.
*/
#ifndef TRACEDIFF_JOB_SCHEDULE_ROWS_H
#define TRACEDIFF_JOB_SCHEDULE_ROWS_H

#include "sqlite/api.h"

extern const char job_schedule_name[], job_offsets_name[];

/* Words for enum job_row_kind. */
extern const char *const job_row_kinds[];

void jobScheduleStep(sqlite3_context *context, int count, sqlite3_value **values);
void jobScheduleFinal(sqlite3_context *context);
void jobOffsetsStep(sqlite3_context *context, int count, sqlite3_value **values);
void jobOffsetsFinal(sqlite3_context *context);

#endif
