/*
** The device work (A1) at each instant: its type, the event that owns the instant (A3) and, while
** the device is idle, the work that starts next (A5).
*/
#ifndef TRACEDIFF_BUSY_H
#define TRACEDIFF_BUSY_H

#include "file/file.h"
#include "file/kernel_type.h"
#include "base/sort.h"

/* A stretch of time with one type and one owner. */
struct busy_stretch {
    int64_t start; /* ns; ends where the next stretch starts */
    uint32_t row;  /* owner; while idle the work that starts next, or ROW_NONE */
    enum kernel_type type;
};

struct busy_work {
    int64_t start, end; /* ns */
    uint32_t row;
    enum kernel_type type;
};

/* The timeline of a device. The first stretch starts before all events. */
struct busy {
    struct busy_stretch *items; /* owned */
    size_t count;
    struct busy_work *work; /* work that takes part (A1), by start, then file order; owned */
    size_t work_count;
};

/* Whether a row takes part (A1). */
static inline bool busy_takes(const struct columns *columns, size_t row)
{
    return columns->kind[row] == KIND_WORK && columns->dur[row] > 0 &&
           columns->ts[row] != NUMBER_NONE && columns->name[row] != NAME_NONE;
}

/* Returns the end in ns of a row that takes part. It fits into 64 bits (T1). */
static inline int64_t busy_end(const struct columns *columns, size_t row)
{
    return columns->ts[row] + columns->dur[row];
}

/* Whether any row takes part. */
bool busy_any(const struct columns *columns);

bool busy_make(struct busy *busy, const struct trace_file *file, const struct stopper *stopper,
               struct failure *failure);

void busy_clear(struct busy *busy);

#endif
