/*
** Ranges that are named as emit_nvtx() names them: their steps (N10), and their args (N7).
*/
#ifndef TRACEDIFF_RANGES_H
#define TRACEDIFF_RANGES_H

#include "nvtx.h"
#include "profiler.h"

/* Ranges that may be steps. A zeroed struct has none. */
struct ranges {
    struct range {
        uint32_t row;
        int word; /* of nvtx_step() */
    } * items;
    size_t count, capacity;
};

/* Notes the row that is added next, unless its word is NVTX_NO_WORD. False if out of memory. */
bool ranges_note(struct ranges *ranges, struct database_read *read, int word);

/* Names the steps: the ranges with the best of the words, which becomes `*word`. */
bool ranges_name_steps(const struct ranges *ranges, struct database_read *read, int *word);

void ranges_clear(struct ranges *ranges);

/* Writes the args that a text gives. False if out of memory. */
bool ranges_args(const struct nvtx_text *parts, sqlite3_str *json, struct failure *failure);

#endif
