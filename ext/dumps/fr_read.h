/*
** Reads a dump into a job. No code of a pickle runs (snapshot/pickle.h).
*/
#ifndef TRACEDIFF_FR_READ_H
#define TRACEDIFF_FR_READ_H

#include "fr_job.h"

enum fr_kind { FR_NOT_A_DUMP, FR_PICKLE, FR_JSON };

/* Finds the possible kind of a file from its first byte (FR1). Sets the failure on read errors. */
enum fr_kind fr_kind_of(const char *path, struct failure *failure);

/* Adds the fixed first texts of a job. */
bool fr_job_begin(struct fr_job *job, struct failure *failure);

/* Adds the content of a file to the job and to the dump, which must be the job's last. `*is_dump`:
** the root is the dictionary of a dump. Problems of the file are noted in the dump. False only if
** the work cannot continue: out of memory, interrupted, or the system refuses to read the file. */
bool fr_read(struct fr_job *job, struct fr_dump *dump, const char *path, bool *is_dump,
             const struct stopper *stopper, struct failure *failure);

#endif
