/*
** A trace: the files of one run, with their ranks.
*/
#ifndef TRACEDIFF_TRACE_H
#define TRACEDIFF_TRACE_H

#include "steps/annotation_steps.h"
#include "paths/directory.h"
#include "paths/file_name.h"
#include "selection.h"

/* Whether a file has again what others of its trace have (T7.8). */
enum copy {
    COPY_NONE,
    COPY_OF_RANKS,  /* a part of a file of several ranks, beside files of one */
    COPY_OF_CAPTURE /* a recording of the capture of graphs, beside others */
};

/* A file, or a part of a database or of a document with labels. */
struct trace_member {
    const char *path; /* borrowed from trace.paths */
    size_t part;      /* 0: the first, or a document without labels */
    bool listed;      /* as in struct trace_path */
    size_t again;
    struct trace_file *file; /* one reference; NULL if it cannot be read */
    struct failure failure;  /* why `file` is NULL */
    const char *twin;        /* while a trace is opened: the path of the same file, or NULL */
    bool is_trace;           /* T16: false for other files in the directory, and for copies */
    enum copy copy;
    bool unclear;            /* it has to be loaded to know the ranks */
    bool chosen;             /* its rank was asked for, and it is loaded */
    enum rank_source rank_source;
    int64_t replica; /* RANK_REPLICA: its number (T7.5); else 0 */
    size_t process; /* RANK_PROCESS: index of the first member of its process */
    int64_t rank;              /* valid if is_trace */
    size_t rank_index;         /* index into trace.ranks */
    const struct steps *steps; /* as they were wished for; valid if chosen */
    struct steps *own_steps;   /* those, if they are not the file's; owned */
    bool clashes;            /* another file of its rank cannot be a cycle of the same run (T8) */
    bool *unshared;          /* by name id, while two traces are compared: a label of one side */
    uint64_t unshared_key;   /* of all that are; 0: none (analysis/names/shared_labels.h) */
    int64_t first_step; /* what is added to their numbers (T8.2, T21) */
};

struct trace {
    struct trace_paths paths;
    struct trace_member *members; /* in the order of their paths and parts */
    size_t count;
    int64_t *ranks;   /* distinct, ascending */
    int64_t *origins; /* T2: ns, for each rank whose files are loaded; NUMBER_NONE */
    size_t rank_count;
    bool unclear;  /* a member is */
    bool replicas; /* ranks are replicas of one (T7.5), which nothing ties */
};

/* The use of a trace, which decides what its files must be (T8, T15, T16). */
enum trace_use {
    TRACE_READABLE = 1, /* every file can be read, and files that were named are traces */
    TRACE_CYCLES = 2,   /* files of one rank are cycles of one run */
    TRACE_WHOLE = 4,    /* no chosen file is damaged */
    TRACE_FOR_FILES = 0,
    TRACE_FOR_EVENTS = TRACE_READABLE,
    TRACE_FOR_STEPS = TRACE_READABLE | TRACE_CYCLES,
    TRACE_FOR_DIFF = TRACE_READABLE | TRACE_CYCLES | TRACE_WHOLE
};

struct trace_request {
    struct trace_paths *paths; /* sorted; the trace takes ownership of them */
    enum trace_use use;
    const bool *phases;            /* as in struct load_options */
    const struct selection *ranks; /* SELECT_DEFAULT: the lowest rank */
    const struct step_wish *steps; /* NULL: STEPS_AUTO */
    const char *subject;           /* for errors: `control`, `the trace` */
    bool captures; /* recordings of captures are no copies */
};

/* The number of a step, by index of its iterations. */
static inline int64_t member_iteration(const struct trace_member *member, uint32_t iteration)
{
    return member->steps->iterations[iteration] + member->first_step;
}

#endif
