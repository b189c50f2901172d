/*
** The events of one file as columns, in the order of the file.
*/
#ifndef TRACEDIFF_COLUMNS_H
#define TRACEDIFF_COLUMNS_H

#include <string.h>

#include "text/number.h"
#include "base/names.h"
#include "places.h"

#define ROW_NONE UINT32_MAX   /* no link */
#define STEP_NONE UINT32_MAX  /* in no step */
#define DEPTH_NONE UINT32_MAX /* in no call stack */

/* The meaning of a category; some categories have two names. */
enum category {
    CATEGORY_OTHER,
    CATEGORY_OPERATOR, /* cpu_op */
    CATEGORY_USER_ANNOTATION,
    CATEGORY_PYTHON, /* python_function */
    CATEGORY_CALL, /* NAME_runtime */
    CATEGORY_DRIVER_CALL,
    CATEGORY_TRACE,
    CATEGORY_KERNEL,
    CATEGORY_COPY, /* gpu_memcpy, gpu_memset */
    CATEGORY_MTIA, /* mtia_ccp_events */
    CATEGORY_GPU_ANNOTATION,
    CATEGORY_SYNC
};

/* The kind of an event, by its category (T9, T10). */
enum kind {
    KIND_HOST,
    KIND_CALL,        /* host: a call of the runtime */
    KIND_DRIVER_CALL, /* host: a call in category cuda_driver or cann_runtime */
    KIND_TRACE,       /* host: category Trace, the profiler's own span */
    KIND_WORK,        /* device work */
    KIND_ANNOTATION,  /* device: gpu_user_annotation */
    KIND_SYNC         /* device: waits for events, and records of events */
};

static inline bool kind_is_device(enum kind kind)
{
    return kind >= KIND_WORK;
}

struct columns {
    unsigned char *block; /* memory of all arrays */
    unsigned char *start; /* the first array, within the block */
    size_t count, capacity;
    int64_t *ts;          /* ns since 1970, or since the profiler's own zero; NUMBER_NONE */
    int64_t *dur;         /* ns; NUMBER_NONE */
    int64_t *correlation; /* NUMBER_NONE */
    uint32_t *name;       /* id, or NAME_NONE */
    uint32_t *place;      /* number of its place: row_place() */
    uint32_t *event;      /* position in traceEvents */
    uint32_t *link;       /* row of the launch or the kernel; ROW_NONE */
    unsigned char *kind;  /* enum kind */
    struct places places;
};

static inline const struct place *row_place(const struct columns *columns, size_t row)
{
    return &columns->places.items[columns->place[row]];
}

/* Whether a row counts in summaries and diffs (T4). */
static inline bool row_counts(const struct columns *columns, size_t row)
{
    return columns->dur[row] >= 0 && columns->name[row] != NAME_NONE &&
           columns->kind[row] != KIND_TRACE;
}

/* The first row of a kind, starting the search at `row`; columns->count if there is none. */
static inline size_t columns_find(const struct columns *columns, size_t row, enum kind kind)
{
    const unsigned char *found =
        row < columns->count ? memchr(columns->kind + row, (int)kind, columns->count - row) : NULL;
    return found ? (size_t)(found - columns->kind) : columns->count;
}

/* Makes room for `needed` rows; false if out of memory. */
bool columns_reserve(struct columns *columns, size_t needed);
/* Frees unused capacity, if there is much. */
void columns_fit(struct columns *columns);
/* The memory of the columns, in bytes. */
size_t columns_memory(const struct columns *columns);
void columns_clear(struct columns *columns);

#endif
