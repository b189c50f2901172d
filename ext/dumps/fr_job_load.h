/*
** Reads a directory of dumps: which files are dumps (FR1), of which ranks (FR2), and which of
** several of a rank is used (FR8).
*/
#ifndef TRACEDIFF_FR_JOB_LOAD_H
#define TRACEDIFF_FR_JOB_LOAD_H

#include "fr_job.h"

/* Failures: FAILURE_READ if it is no directory, FAILURE_REQUEST if no dump in it can be read, and
** others; the job is to be cleared then, too. */
bool fr_job_load(struct fr_job *job, const char *directory, const struct stopper *stopper,
                 struct failure *failure);

#endif
