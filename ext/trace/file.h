/*
** One trace file in memory. Everything here is plain data. It is loaded once and only read
** afterwards, except for the parts that are derived when they are first needed.
*/
#ifndef TRACEDIFF_FILE_H
#define TRACEDIFF_FILE_H

#include "../reader/document.h"
#include "columns.h"
#include "tracks.h"

/* A host event ProfilerStep#N (T11). */
struct profiler_step {
    uint32_t row;
    uint32_t iteration; /* index into trace_file.iterations */
    int64_t start, end; /* ns, [start, end) */
};

/* A gpu_user_annotation, and the row that places it (annotations.h). */
struct annotation {
    uint32_t row, by;
};

/* Call stacks by row (T5); derived when a query first needs them. */
struct stacks {
    bool made;
    uint32_t *parent; /* row; ROW_NONE */
    uint32_t *depth;  /* DEPTH_NONE: not part of a stack */
    int64_t *self;    /* ns; NUMBER_NONE: no duration, or not part of a stack */
};

struct trace_file {
    int references;
    bool lent; /* SQLite may hold pointers to its texts while a statement runs */
    char *path;
    char *shown; /* the path as valid UTF-8, for column `file` */
    struct identity identity;
    bool phases[256]; /* by phase letter: whether its events are rows */
    bool loaded;      /* false: only the head has been read, up to the first event */
    bool by_zlib;     /* read by zlib, because the fastest decoder did not read it whole */
    bool rank_known;  /* head: the rest of the file is not needed to know `rank` */
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
    unsigned char *categories; /* by name id: enum category */
    struct columns columns;
    struct tracks tracks;
    struct stacks stacks;
    unsigned char *args_counted; /* one bit per row: its args are counted among the problems */
    uint32_t *orders[3];         /* by enum order (order.h); NULL: not made yet */
    int64_t first, last; /* ns: earliest start of X, B or E, and latest end; NUMBER_NONE (T2) */

    int64_t *iterations; /* the distinct step numbers, ascending */
    size_t iteration_count;
    uint32_t *first_steps; /* by iteration: row of its step that starts first; ROW_NONE: no step */
    struct profiler_step *steps; /* in the order of the file */
    size_t step_count;
    struct annotation *annotations; /* annotations of the device, in the order of the file */
    size_t annotation_count;
};

/* Whether a row has a category. */
static inline bool row_is(const struct trace_file *of, size_t row, enum category category)
{
    uint32_t cat = row_place(&of->columns, row)->cat;
    return cat != NAME_NONE && of->categories[cat] == category;
}

/* Makes an empty file with one reference; NULL if out of memory. */
struct trace_file *file_new(const char *path, struct failure *failure);

/* Drops a reference; the last one frees the file. NULL is allowed. */
void file_release(struct trace_file *file);

/* Frees everything but the texts; the file then counts as not loaded. */
void file_shrink(struct trace_file *file);

/* The memory the file holds, in bytes. */
size_t file_memory(const struct trace_file *file);

#endif
