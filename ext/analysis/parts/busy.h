/*
** What the device work that takes part (A1) does at each instant and which event owns it (A3), and
** which work starts next while it is idle (A5).
*/
#ifndef TRACEDIFF_BUSY_H
#define TRACEDIFF_BUSY_H

#include "file/file.h"
#include "file/kernel_type.h"
#include "base/sort.h"

/* A stretch of time with one type and one owner. */
struct busy_stretch {
    int64_t start; /* ns; the stretch lasts until the start of the next one */
    uint32_t row;  /* the owner; while idle: the work that starts next, or ROW_NONE */
    enum kernel_type type;
};

struct busy_work {
    int64_t start, end; /* ns */
    uint32_t row;
    enum kernel_type type;
};

/* All of time. The first stretch begins before all events. */
struct busy {
    struct busy_stretch *items; /* owned */
    size_t count;
    struct busy_work *work; /* that takes part, by start, then order of the file; owned */
    size_t work_count;
};

/* Whether a row takes part (A1). */
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

/* Whether any row takes part. */
bool busy_any(const struct columns *columns);

bool busy_make(struct busy *busy, const struct trace_file *file, const struct stopper *stopper,
               struct failure *failure);

void busy_clear(struct busy *busy);

#endif
