/*
** Turns the values of a dump into groups, their status, and entries.
*/
#ifndef TRACEDIFF_FR_ENTRIES_READ_H
#define TRACEDIFF_FR_ENTRIES_READ_H

#include "fr_job.h"
#include "snapshot/pickle.h"

/* Keys that are looked up in a dump; fr_read.c has their texts. */
enum fr_key {
    FR_KEY_ENTRIES,
    FR_KEY_PG_CONFIG,
    FR_KEY_PG_STATUS,
    FR_KEY_VERSION,
    FR_KEY_NAME,
    FR_KEY_DESC,
    FR_KEY_RANKS,
    FR_KEY_ENQUEUED,
    FR_KEY_COMPLETED,
    FR_KEY_RECORD_ID,
    FR_KEY_PG_ID,
    FR_KEY_PROCESS_GROUP,
    FR_KEY_COLLECTIVE_SEQ,
    FR_KEY_P2P_SEQ,
    FR_KEY_OP_ID,
    FR_KEY_PROFILING_NAME,
    FR_KEY_CREATED,
    FR_KEY_STARTED_NS,
    FR_KEY_COMPLETED_NS,
    FR_KEY_DURATION,
    FR_KEY_TIMEOUT,
    FR_KEY_INPUT_SIZES,
    FR_KEY_INPUT_TYPES,
    FR_KEY_OUTPUT_SIZES,
    FR_KEY_OUTPUT_TYPES,
    FR_KEY_STATE,
    FR_KEY_RETIRED,
    FR_KEY_IS_P2P,
    FR_KEY_THREAD,
    FR_KEY_FRAMES,
    FR_KEY_FILENAME,
    FR_KEY_LINE,
    FR_KEYS
};

/* Whether the root is the dictionary of a dump (FR1). */
bool fr_is_dump(const struct pickle *pickle);

/* Adds a dump to the job. FAILURE_DAMAGE if an entry or a group lacks a required field. */
bool fr_entries_read(struct fr_job *job, struct fr_dump *dump, const struct pickle *pickle,
                     const char *path, const struct stopper *stopper, struct failure *failure);

#endif
