/*
** Puts the dumps of a job together: its ranks, its groups (FR9), and what pg_status says of them
** (FR7); which dumps have lost entries that are pending (FR6), and which entries are in doubt
** (FR5).
*/
#ifndef TRACEDIFF_FR_GROUPS_FIND_H
#define TRACEDIFF_FR_GROUPS_FIND_H

#include "fr_job.h"

bool fr_groups_find(struct fr_job *job, const struct stopper *stopper, struct failure *failure);

#endif
