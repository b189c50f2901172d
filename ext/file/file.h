/*
** One trace file in memory, as plain data. It is loaded once and only read afterwards, except for
** the parts that are derived on first use.
*/
#ifndef TRACEDIFF_FILE_H
#define TRACEDIFF_FILE_H

#include "reader/document.h"
#include "columns.h"
#include "health.h"
#include "tracks.h"

/* A step, from a host event (T11, T20). */
struct step {
    uint32_t row;
    uint32_t iteration; /* index into steps.iterations */
    int64_t start, end; /* ns, [start, end) */
    uint32_t form;      /* id of the name with its phase (T22); NAME_NONE */
};

/* The steps of a file, and the step of each row. */
struct steps {
    bool by_work;        /* the steps take part in nesting on a thread (A11.1) */
    bool by_annotation;  /* numbers start at 0, and continue over the files of a rank (T21) */
    int64_t *iterations; /* the distinct step numbers, ascending */
    size_t iteration_count;
    uint32_t *first;    /* by iteration: index of its earliest step; ROW_NONE: none */
    struct step *items; /* in the order of the file */
    size_t count;
    uint32_t *of; /* by row: index into iterations, or STEP_NONE; NULL: no row is in a step */
};

/* A gpu_user_annotation, and the row that places it (annotations.h): `by`, or `named` if it is
** named like a profiler step. */
struct annotation {
    uint32_t row, by, named; /* named: ROW_NONE for other names */
};

/* The process group from the args of a collective (W1): ids of names, or NAME_NONE. */
struct process_group {
    uint32_t row;
    uint32_t name;       /* its name, else its description, else its ranks */
    uint32_t ranks;      /* distinguishes groups with equal names */
    uint32_t collective; /* for a host collective: its name (Q10.1) */
    uint32_t source, target; /* for a send or receive: places of ranks in the group (Q2.5) */
};

/* Data from XLA's args for a row (xla.h): ids of names, or NAME_NONE. */
struct xla_said {
    uint32_t row;
    uint32_t op, module; /* for device work */
    int64_t step;        /* for a step: its number, else NUMBER_NONE */
};

/* Call stacks by row (T5); derived on first use. */
struct stacks {
    bool made;
    uint32_t *parent; /* row; ROW_NONE */
    uint32_t *depth;  /* DEPTH_NONE: not part of a stack */
    int64_t *self;    /* ns; NUMBER_NONE: no duration, or not part of a stack */
};

/* The origin of a rank (T7). */
enum rank_source {
    RANK_DISTRIBUTED_INFO,
    RANK_DATABASE,
    RANK_NAME,
    RANK_REPLICA,
    RANK_PROCESS,
    RANK_ORDER
};

struct row_source;

/* Data that another layer derived from a file. It is cached here and freed with the rows. */
struct derived {
    struct derived *next;
    size_t memory; /* bytes */
    void (*free)(struct derived *derived);
};

struct trace_file {
    int references;
    uint64_t serial; /* unique among all loads of files in this process */
    bool lent; /* SQLite may hold pointers to its texts during a statement */
    char *path;
    char *shown; /* path as valid UTF-8, for column `file` */
    struct identity identity;
    bool phases[256]; /* by phase letter: its events are rows */
    bool async;       /* without X, B and E: its `b` and `e` count as B and E (T3.5) */
    bool loaded;      /* false: only the head was read, up to the first event */
    bool by_zlib;     /* read by zlib, because the fastest decoder failed */
    bool rank_known;  /* `rank` is final without reading the rest */
    int64_t rank;     /* -1: unknown */
    enum rank_source rank_source;
    const struct row_source *source; /* NULL: a JSON document */
    size_t part;    /* index of this part in a database or a document with labels */
    int64_t *parts; /* the ranks of all parts, or -1; NULL: only one part */
    size_t part_count;
    char *labels; /* labels of the parts of a document (T7.6), each with a NUL; NULL: none */
    size_t labels_size;
    void *origin;       /* the source's data for finding rows again; owned */
    size_t origin_size; /* bytes */
    int64_t base;       /* baseTimeNanoseconds */
    bool has_base;
    char *metadata; /* see struct metadata; may be NULL */
    size_t metadata_length;

    enum document_outcome outcome;
    struct failure trouble;
    struct problems problems;
    int64_t backlog;    /* ns: total of PROBLEM_BACKLOG */
    int64_t unlaunched; /* ns: total of PROBLEM_NO_LAUNCH */
    int64_t events, skipped, json_size;

    struct names names;
    unsigned char *categories; /* by name id: enum category */
    struct columns columns;
    struct tracks tracks;
    struct stacks stacks;
    unsigned char *args_counted; /* one bit per row: problems of its args are already counted */
    uint32_t *orders[4];         /* by enum order (order.h); NULL: not derived yet */
    struct derived *derived;     /* most recently used first; owned */
    int64_t first, last; /* ns: earliest start and latest end of X, B or E; NUMBER_NONE (T2) */

    struct steps profiler_steps;
    struct steps *known_steps; /* by annotation, if more than profiler steps (T20) */
    struct annotation *annotations; /* of the device, in file order */
    size_t annotation_count;
    struct process_group *groups; /* of collectives with group data in args, in file order */
    size_t group_count, group_capacity;
    struct xla_said *xla; /* in file order */
    size_t xla_count, xla_capacity;
    struct file_health health;
};

/* Returns the data that this function frees; NULL: there is none. */
static inline const struct derived *derived_find(const struct trace_file *file,
                                                 void (*freed_by)(struct derived *derived))
{
    const struct derived *at = file->derived;
    while (at && at->free != freed_by)
        at = at->next;
    return at;
}

/* Whether a row has a category. */
static inline bool row_is(const struct trace_file *of, size_t row, enum category category)
{
    uint32_t cat = row_place(&of->columns, row)->cat;
    return cat != NAME_NONE && of->categories[cat] == category;
}

/* The index in steps->iterations of a row's step, or STEP_NONE. */
static inline uint32_t step_of(const struct steps *steps, size_t row)
{
    return steps->of ? steps->of[row] : STEP_NONE;
}

/* The label of a part, for a file with labels. */
const char *file_label(const struct trace_file *file, size_t part);

/* Sets the failure for a file that has changed since loading. Always returns false. */
bool file_changed(const struct trace_file *file, struct failure *failure);

/* Whether a file is unchanged, by its identity; otherwise fails like file_changed(). */
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

/* The memory of the file, in bytes. */
size_t file_memory(const struct trace_file *file);

void steps_clear(struct steps *steps);

/* Gets the name id of a text. Invalid UTF-8 is repaired, a problem. False if out of memory. */
bool file_intern(struct trace_file *file, const char *text, size_t length, uint32_t *id,
                 struct failure *failure);

#endif
