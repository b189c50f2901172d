/*
** What follows from a dump alone: the status of its entries and batches (FR3, FR4), whether it has
** only active ones (FR5), what was overwritten (FR6), and what its members called.
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

/* Whether an entry is a part of a batch that another one closes; `i` is its index. */
static inline bool fr_is_part(const struct fr_entry *entry, size_t i)
{
    return entry->batch != FR_NONE && entry->batch != i;
}

#endif
