/*
** One trace file in memory. Everything here is plain data. It is loaded once and only read
** afterwards, except for the parts that are derived when they are first needed.
*/
#ifndef TRACEDIFF_FILE_H
#define TRACEDIFF_FILE_H

#include "reader/document.h"
#include "columns.h"
#include "health.h"
#include "tracks.h"

/* A host event that is a step (T11, T20). */
struct step {
    uint32_t row;
    uint32_t iteration; /* index into steps.iterations */
    int64_t start, end; /* ns, [start, end) */
    uint32_t form;      /* id of the name that tells its phase (T22); NAME_NONE */
};

/* Steps of a file, and the step that each of its rows is in. */
struct steps {
    bool by_work;        /* they take part in what a thread is in (A11.1) */
    bool by_annotation;  /* numbers count from 0, and go on over the files of a rank (T21) */
    int64_t *iterations; /* the distinct step numbers, ascending */
    size_t iteration_count;
    uint32_t *first;    /* by iteration: index of its step that starts first; ROW_NONE: no step */
    struct step *items; /* in the order of the file */
    size_t count;
    uint32_t *of; /* by row: index into iterations, or STEP_NONE; NULL: no row is in a step */
};

/* A gpu_user_annotation, and the row that places it (annotations.h): `by`, or if it is named like a
** step of the profiler `named`. */
struct annotation {
    uint32_t row, by, named; /* named: ROW_NONE if its name is another */
};

/* What the args of a collective say of its process group (W1): ids of names, or NAME_NONE. */
struct process_group {
    uint32_t row;
    uint32_t name;       /* its name, else its description, else its ranks */
    uint32_t ranks;      /* which tell groups of one name apart */
    uint32_t collective; /* of a collective on the host: its name (Q10.1) */
    uint32_t source, target; /* of a send or receive: the place of a rank in the group (Q2.5) */
};

/* What XLA's args say of a row (xla.h): ids of names, or NAME_NONE. */
struct xla_said {
    uint32_t row;
    uint32_t op, module; /* of device work */
    int64_t step;        /* of a step: its number, else NUMBER_NONE */
};

/* Call stacks by row (T5); derived when a query first needs them. */
struct stacks {
    bool made;
    uint32_t *parent; /* row; ROW_NONE */
    uint32_t *depth;  /* DEPTH_NONE: not part of a stack */
    int64_t *self;    /* ns; NUMBER_NONE: no duration, or not part of a stack */
};

/* Where a rank comes from (T7). */
enum rank_source {
    RANK_DISTRIBUTED_INFO,
    RANK_DATABASE,
    RANK_NAME,
    RANK_REPLICA,
    RANK_PROCESS,
    RANK_ORDER
};

struct row_source;

/* What a lower layer has found in a file, which keeps it for later and frees it with its rows. */
struct derived {
    struct derived *next;
    size_t memory; /* bytes */
    void (*free)(struct derived *derived);
};

struct trace_file {
    int references;
    uint64_t serial; /* no other reading of a file in this process has it */
    bool lent; /* SQLite may hold pointers to its texts while a statement runs */
    char *path;
    char *shown; /* the path as valid UTF-8, for column `file` */
    struct identity identity;
    bool phases[256]; /* by phase letter: whether its events are rows */
    bool async;       /* it has no X, B and E: its `b` and `e` are as B and E (T3.5) */
    bool loaded;      /* false: only the head has been read, up to the first event */
    bool by_zlib;     /* read by zlib, because the fastest decoder did not read it whole */
    bool rank_known;  /* the rest of the file is not needed to know `rank` */
    int64_t rank;     /* -1: the file does not say */
    enum rank_source rank_source;
    const struct row_source *source; /* of a database; NULL: a JSON document */
    size_t part;    /* of a database, or of a document with labels: the index of this part of it */
    int64_t *parts; /* the ranks of all its parts, or -1; NULL: there is one */
    size_t part_count;
    char *labels; /* of the parts of a document (T7.6), a NUL after each; NULL: there are none */
    size_t labels_size;
    void *origin;       /* what the source needs to find rows again; owned */
    size_t origin_size; /* bytes */
    int64_t base;       /* baseTimeNanoseconds */
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
    uint32_t *orders[4];         /* by enum order (order.h); NULL: not made yet */
    struct derived *derived;     /* the one used last first; owned */
    int64_t first, last; /* ns: earliest start of X, B or E, and latest end; NUMBER_NONE (T2) */

    struct steps profiler_steps;
    struct steps *known_steps; /* by annotation, if more than those of the profiler (T20) */
    struct annotation *annotations; /* annotations of the device, in the order of the file */
    size_t annotation_count;
    struct process_group *groups; /* of collectives whose args tell it, in the order of the file */
    size_t group_count, group_capacity;
    struct xla_said *xla; /* in the order of the file */
    size_t xla_count, xla_capacity;
    struct file_health health;
};

/* Whether a row has a category. */
static inline bool row_is(const struct trace_file *of, size_t row, enum category category)
{
    uint32_t cat = row_place(&of->columns, row)->cat;
    return cat != NAME_NONE && of->categories[cat] == category;
}

/* The index in steps->iterations of the step that a row is in, or STEP_NONE. */
static inline uint32_t step_of(const struct steps *steps, size_t row)
{
    return steps->of ? steps->of[row] : STEP_NONE;
}

/* The label of a part of a file that has labels. */
const char *file_label(const struct trace_file *file, size_t part);

/* Fails, because a file is not what it was when it was loaded. */
bool file_changed(const struct trace_file *file, struct failure *failure);

/* Whether it is, by its identity; else fails so. */
bool file_same(const struct trace_file *file, const struct identity *identity,
               struct failure *failure);

/* Makes an empty file with one reference; NULL if out of memory. */
struct trace_file *file_new(const char *path, struct failure *failure);

/* Whether a file was loaded with exactly the wanted phases; NULL: X and B. */
bool file_has_phases(const struct trace_file *file, const bool *phases);

/* Drops a reference; the last one frees the file. NULL is allowed. */
void file_release(struct trace_file *file);

/* Frees everything but the texts; the file then counts as not loaded. */
void file_shrink(struct trace_file *file);

/* The memory the file holds, in bytes. */
size_t file_memory(const struct trace_file *file);

void steps_clear(struct steps *steps);

/* Gets the id of a text as a name. What is not UTF-8 is repaired, and counted as a problem. False
** if out of memory. */
bool file_intern(struct trace_file *file, const char *text, size_t length, uint32_t *id,
                 struct failure *failure);

#endif
