/*
** Reads a directory of dumps: finds the dumps (FR1) and their ranks (FR2), and selects one dump per
** rank (FR8).
*/
#ifndef TRACEDIFF_FR_JOB_LOAD_H
#define TRACEDIFF_FR_JOB_LOAD_H

#include "fr_job.h"

/* Loads a directory. Failures: FAILURE_READ if it is not a directory, FAILURE_REQUEST if no dump in
** it can be read, and others. The caller clears the job on failure, too. */
bool fr_job_load(struct fr_job *job, const char *directory, const struct stopper *stopper,
                 struct failure *failure);

#endif
