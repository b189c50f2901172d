/*
** Reads a dump into a job. Of a pickle nothing runs (snapshot/pickle.h).
*/
#ifndef TRACEDIFF_FR_READ_H
#define TRACEDIFF_FR_READ_H

#include "fr_job.h"

enum fr_kind { FR_NOT_A_DUMP, FR_PICKLE, FR_JSON };

/* What a file may be, by its first byte (FR1). Sets the failure if that cannot be read. */
enum fr_kind fr_kind_of(const char *path, struct failure *failure);

/* Makes the first texts of a job. */
bool fr_job_begin(struct fr_job *job, struct failure *failure);

/* Adds what a file says to the job and to the dump, the last of the job. `*is_dump`: it is a
** dictionary of a dump. What is wrong with the file goes to the dump; false only if the work cannot
** go on: out of memory, interrupted, or the system does not let it be read. */
bool fr_read(struct fr_job *job, struct fr_dump *dump, const char *path, bool *is_dump,
             const struct stopper *stopper, struct failure *failure);

#endif
