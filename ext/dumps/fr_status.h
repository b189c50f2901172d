/*
** Conclusions from a single dump: the status of its entries and batches (FR3, FR4), whether it has
** only active entries (FR5), overwritten entries (FR6), and the highest calls of its members.
*/
#ifndef TRACEDIFF_FR_STATUS_H
#define TRACEDIFF_FR_STATUS_H

#include "fr_job.h"

bool fr_status_find(struct fr_job *job, struct fr_dump *dump, const struct stopper *stopper,
                    struct failure *failure);

/* Whether an entry is pending or timed out. */
static inline bool fr_is_pending(const struct fr_entry *entry)
{
    return entry->status != FR_STATUS_COMPLETED;
}

/* Whether an entry, with index `i`, is part of a batch that another entry closes. */
static inline bool fr_is_part(const struct fr_entry *entry, size_t i)
{
    return entry->batch != FR_NONE && entry->batch != i;
}

#endif
