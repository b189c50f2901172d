/*
** A trace: the files of one run and their ranks.
*/
#ifndef TRACEDIFF_TRACE_H
#define TRACEDIFF_TRACE_H

#include "steps/annotation_steps.h"
#include "paths/directory.h"
#include "paths/file_name.h"
#include "selection.h"

/* Whether a file repeats the content of other files of its trace (T7.8). */
enum copy {
    COPY_NONE,
    COPY_OF_RANKS,  /* a part of a file with several ranks; other files have one rank */
    COPY_OF_CAPTURE /* a recording of graph captures; other files have the runs */
};

/* A file, or a part of a database or of a document with labels. */
struct trace_member {
    const char *path; /* borrowed from trace.paths */
    size_t part;      /* 0: the first, or a document without labels */
    bool listed;      /* see struct trace_path */
    size_t again;
    struct trace_file *file; /* one reference; NULL if unreadable */
    struct failure failure;  /* the reason if `file` is NULL */
    const char *twin;        /* during opening: another path of the same file, or NULL */
    bool is_trace;           /* T16: false for other files in the directory, and for copies */
    enum copy copy;
    bool unclear;            /* it must be loaded to find the ranks */
    bool chosen;             /* its rank is requested, and it is loaded */
    enum rank_source rank_source;
    int64_t replica; /* RANK_REPLICA: replica number (T7.5); else 0 */
    size_t process; /* RANK_PROCESS: index of the first member of its process */
    int64_t rank;              /* valid if is_trace */
    size_t rank_index;         /* index into trace.ranks */
    const struct steps *steps; /* the requested steps; valid if chosen */
    struct steps *own_steps;   /* owns `steps` if they are not the file's; or NULL */
    bool clashes;            /* another file of its rank cannot be a cycle of the same run (T8) */
    bool *unshared;          /* by name id, during comparisons: only one side has it */
    uint64_t unshared_key;   /* hash of these labels; 0: none (analysis/names/shared_labels.h) */
    int64_t first_step; /* offset of the step numbers (T8.2, T21) */
};

struct trace {
    struct trace_paths paths;
    struct trace_member *members; /* in order of paths and parts */
    size_t count;
    int64_t *ranks;   /* distinct, ascending */
    int64_t *origins; /* T2: ns, by rank with loaded files; NUMBER_NONE */
    size_t rank_count;
    bool unclear;  /* some member is unclear */
    bool replicas; /* its ranks are independent replicas of one rank (T7.5) */
};

/* The requirements that a use of a trace puts on its files (T8, T15, T16). */
enum trace_use {
    TRACE_READABLE = 1, /* every file is readable, and files named by the user are traces */
    TRACE_CYCLES = 2,   /* files of one rank are cycles of one run */
    TRACE_WHOLE = 4,    /* no chosen file is damaged */
    TRACE_FOR_FILES = 0,
    TRACE_FOR_EVENTS = TRACE_READABLE,
    TRACE_FOR_STEPS = TRACE_READABLE | TRACE_CYCLES,
    TRACE_FOR_DIFF = TRACE_READABLE | TRACE_CYCLES | TRACE_WHOLE
};

struct trace_request {
    struct trace_paths *paths; /* sorted; the trace takes ownership */
    enum trace_use use;
    const bool *phases;            /* see struct load_options */
    const struct selection *ranks; /* SELECT_DEFAULT: the lowest rank */
    const struct step_wish *steps; /* NULL: STEPS_AUTO */
    const char *subject;           /* subject of error messages: `control`, `the trace` */
    bool captures; /* recordings of captures do not count as copies */
};

/* The number of a step, by index of its iterations. */
static inline int64_t member_iteration(const struct trace_member *member, uint32_t iteration)
{
    return member->steps->iterations[iteration] + member->first_step;
}

#endif
