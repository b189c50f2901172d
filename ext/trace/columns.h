/*
** The events of one file as columns, in the order of the file, and what is
** derived from them. Everything here is plain data: loaded once, then only read,
** but for what is derived when it is first asked for.
*/
#ifndef TRACEDIFF_COLUMNS_H
#define TRACEDIFF_COLUMNS_H

#include "../reader/document.h"
#include "names.h"
#include "tracks.h"

#define NUMBER_NONE INT64_MIN /* no time, no stream, no correlation */
#define ROW_NONE UINT32_MAX   /* no link */
#define STEP_NONE UINT32_MAX  /* in no step */
#define DEPTH_NONE UINT32_MAX /* in no call stack */

/* What a category is; several have two names. */
enum category {
    CATEGORY_OTHER,
    CATEGORY_OPERATOR, /* cpu_op */
    CATEGORY_USER_ANNOTATION,
    CATEGORY_CALL, /* NAME_runtime */
    CATEGORY_DRIVER_CALL,
    CATEGORY_TRACE,
    CATEGORY_KERNEL,
    CATEGORY_COPY, /* gpu_memcpy, gpu_memset */
    CATEGORY_MTIA, /* mtia_ccp_events */
    CATEGORY_GPU_ANNOTATION,
    CATEGORY_SYNC
};

/* What an event is by its category (T9, T10). */
enum kind {
    KIND_HOST,
    KIND_CALL,        /* host: a call into the runtime */
    KIND_DRIVER_CALL, /* host: the same, category cuda_driver */
    KIND_TRACE,       /* host: category Trace, the profiler's own span */
    KIND_WORK,        /* device work */
    KIND_ANNOTATION,  /* device: gpu_user_annotation */
    KIND_SYNC         /* device: waits and records of events */
};

static inline bool kind_is_device(enum kind kind)
{
    return kind >= KIND_WORK;
}

struct columns {
    size_t count, capacity;
    int64_t *ts;          /* ns since 1970 or the profiler's own zero; NUMBER_NONE */
    int64_t *dur;         /* ns; NUMBER_NONE */
    int64_t *stream;      /* NUMBER_NONE */
    int64_t *correlation; /* NUMBER_NONE */
    uint32_t *name, *cat; /* ids, or NAME_NONE */
    uint32_t *track;      /* number of the track */
    uint32_t *event;      /* position in traceEvents */
    uint32_t *link;       /* row of the launch or the kernel; ROW_NONE */
    uint32_t *iteration;  /* index of trace_file.iterations; STEP_NONE */
    unsigned char *phase;
    unsigned char *kind; /* enum kind */
};

/* A host event ProfilerStep#N (T11). */
struct profiler_step {
    uint32_t row;
    uint32_t iteration; /* index of trace_file.iterations */
    int64_t start, end; /* ns, [start, end) */
};

/* A gpu_user_annotation, and the row by which it goes (annotations.h). */
struct annotation {
    uint32_t row, by;
};

/* Call stacks (T5), by row, found only when they are asked for. */
struct stacks {
    bool made;
    uint32_t *parent; /* row; ROW_NONE */
    uint32_t *depth;  /* DEPTH_NONE: takes no part */
    int64_t *self;    /* ns; NUMBER_NONE: has no duration, or takes no part */
};

struct trace_file {
    int references;
    bool lent; /* SQLite may hold pointers to its texts while a statement runs */
    char *path;
    char *shown; /* the path as valid UTF-8, for column `file`; may be `path` itself */
    struct identity identity;
    bool phases[256]; /* whose events are rows */
    bool loaded;      /* false: only the head has been read, up to the first event */
    bool by_zlib;     /* it is not whole as the fastest decoder reads it */
    bool rank_known;  /* head: no more of the file is needed to know `rank` */
    int64_t rank;     /* distributedInfo.rank, or -1 */
    int64_t base;     /* baseTimeNanoseconds */
    bool has_base;
    char *metadata; /* as struct metadata; may be NULL */
    size_t metadata_length;

    enum document_outcome outcome;
    struct failure trouble;
    struct problems problems;
    int64_t backlog;    /* ns: the total of PROBLEM_BACKLOG */
    int64_t unlaunched; /* ns: the total of PROBLEM_NO_LAUNCH */
    int64_t events, skipped, json_size;

    struct names names;
    unsigned char *categories; /* by name: enum category */
    struct columns columns;
    struct tracks tracks;
    struct stacks stacks;
    unsigned char *args_counted; /* by row, a bit each: its args are among the problems */
    uint32_t *orders[3];         /* by enum order (order.h); NULL: not asked for yet */
    int64_t first, last;         /* ns: earliest X, B or E, latest end; NUMBER_NONE (T2) */

    int64_t *iterations; /* the numbers of the steps, ascending, each once */
    size_t iteration_count;
    struct profiler_step *steps; /* in the order of the file */
    size_t step_count;
    struct annotation *annotations; /* those of the device, in the order of the file */
    size_t annotation_count;
};

/* Whether a row is of a category. */
static inline bool row_is(const struct trace_file *file, size_t row, enum category category)
{
    uint32_t cat = file->columns.cat[row];
    return cat != NAME_NONE && file->categories[cat] == category;
}

/* Whether a row counts in summaries and diffs (T4). */
static inline bool row_counts(const struct columns *columns, size_t row)
{
    return columns->dur[row] >= 0 && columns->name[row] != NAME_NONE &&
           columns->kind[row] != KIND_TRACE;
}

bool columns_reserve(struct columns *columns, size_t needed);
/* Gives back what was reserved and is not used. */
void columns_fit(struct columns *columns);
void columns_clear(struct columns *columns);

#endif
