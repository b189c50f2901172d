/*
** Ranges with names from emit_nvtx(): finds steps among them (N10), and writes their args (N7).
*/
#ifndef TRACEDIFF_RANGES_H
#define TRACEDIFF_RANGES_H

#include "nvtx.h"
#include "profiler.h"

/* Candidates for steps. A zeroed struct is empty. */
struct ranges {
    struct range {
        uint32_t row;
        int word; /* from nvtx_step() */
    } * items;
    size_t count, capacity;
};

/* Notes the next row to be added, unless its word is NVTX_NO_WORD. False if out of memory. */
bool ranges_note(struct ranges *ranges, struct database_read *read, int word);

/* Names the steps: the ranges with the best word, which is stored in `*word`. */
bool ranges_name_steps(const struct ranges *ranges, struct database_read *read, int *word);

void ranges_clear(struct ranges *ranges);

/* Writes the args from a text. False if out of memory. */
bool ranges_args(const struct nvtx_text *parts, sqlite3_str *json, struct failure *failure);

#endif
