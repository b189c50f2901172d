/*
** Finds dumps taken earlier than others (FR12). It uses contradictions between dumps, not clocks.
*/
#ifndef TRACEDIFF_HANG_OLD_H
#define TRACEDIFF_HANG_OLD_H

#include "dumps/fr_job.h"

/* FR12: true if an op ends nowhere before all members take part. */
bool op_is_strict(const struct fr_job *job, const struct fr_entry *entry);

/* Marks old dumps. */
bool hang_old_find(struct fr_job *job, const struct stopper *stopper, struct failure *failure);

#endif
