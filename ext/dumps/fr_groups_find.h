/*
** Combines the dumps of a job: its ranks, its groups (FR9), and their status from pg_status (FR7).
** Finds dumps that lost pending entries (FR6), and entries in doubt (FR5).
*/
#ifndef TRACEDIFF_FR_GROUPS_FIND_H
#define TRACEDIFF_FR_GROUPS_FIND_H

#include "fr_job.h"

bool fr_groups_find(struct fr_job *job, const struct stopper *stopper, struct failure *failure);

#endif
