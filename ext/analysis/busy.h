/*
** What a device does at each instant, and what it waits for when it does nothing.
**
** 1. Device work (T9) that counts (row_counts) and has a duration takes part, of
**    whatever device and stream.
** 2. While some runs, the instant is computation, else communication, else memory, if
**    work of that type (kernel_type.h) runs. Of several of a type the one that started first owns
*it, then the first in the file.
** 3. Otherwise the device is idle until the work that starts next: of several the first
**    in the file.
*/
#ifndef TRACEDIFF_BUSY_H
#define TRACEDIFF_BUSY_H

#include "../trace/file.h"
#include "../trace/kernel_type.h"
#include "../trace/sort.h"

/* From one change of these to the next. */
struct busy_stretch {
    int64_t start; /* ns; up to the start of the next one */
    uint32_t row;  /* of who owns it; KERNEL_NONE: what starts next, or ROW_NONE */
    enum kernel_type type;
};

/* All of time; the first stretch begins before everything. */
struct busy {
    struct busy_stretch *items; /* owned */
    size_t count;
};

/* Whether a row takes part (rule 1). */
static inline bool busy_takes(const struct columns *columns, size_t row)
{
    return columns->kind[row] == KIND_WORK && columns->dur[row] > 0 &&
           columns->ts[row] != NUMBER_NONE && columns->name[row] != NAME_NONE;
}

/* Where a row that takes part ends: ns, within 64 bits (T1). */
static inline int64_t busy_end(const struct columns *columns, size_t row)
{
    return columns->ts[row] + columns->dur[row];
}

bool busy_make(struct busy *busy, const struct trace_file *file, const struct stopper *stopper,
               struct failure *failure);

void busy_clear(struct busy *busy);

#endif
