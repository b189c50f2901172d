/*
** What a device does at each instant, and which event it waits for while it is idle.
**
** 1. Device work (T9) takes part if it counts (row_counts) and has a duration, on any device and
**    stream.
** 2. While any of it runs, the instant is computation if work of that type (kernel_type.h) runs,
**    else communication, else memory. Among several of a type, the one that started first owns
**    the instant; ties: earlier in the file.
** 3. Otherwise the device is idle until the work that starts next; ties: earlier in the file.
*/
#ifndef TRACEDIFF_BUSY_H
#define TRACEDIFF_BUSY_H

#include "../trace/file.h"
#include "../trace/kernel_type.h"
#include "../trace/sort.h"

/* A stretch of time with one type and one owner. */
struct busy_stretch {
    int64_t start; /* ns; the stretch lasts until the start of the next one */
    uint32_t row;  /* the owner; while idle: the work that starts next, or ROW_NONE */
    enum kernel_type type;
};

/* All of time. The first stretch begins before all events. */
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

/* The end (ns) of a row that takes part; it fits in 64 bits (T1). */
static inline int64_t busy_end(const struct columns *columns, size_t row)
{
    return columns->ts[row] + columns->dur[row];
}

bool busy_make(struct busy *busy, const struct trace_file *file, const struct stopper *stopper,
               struct failure *failure);

void busy_clear(struct busy *busy);

#endif
