/*
** A trace: the files of one run, with their ranks.
*/
#ifndef TRACEDIFF_TRACE_H
#define TRACEDIFF_TRACE_H

#include "loading/annotation_steps.h"
#include "cache.h"
#include "directory.h"
#include "select.h"

/* A file, or a part of a database. */
struct trace_member {
    const char *path; /* borrowed from trace.paths */
    size_t part;      /* of a database; 0: its first, or a document */
    bool listed;      /* as in struct trace_path */
    size_t again;
    struct trace_file *file; /* one reference; NULL if it cannot be read */
    struct failure failure;  /* why `file` is NULL */
    const char *twin;        /* while a trace is opened: the path of the same file, or NULL */
    bool is_trace;           /* T16: false for other files in the directory */
    bool chosen;             /* its rank was asked for, and it is loaded */
    enum rank_source rank_source;
    int64_t rank;              /* valid if is_trace */
    size_t rank_index;         /* index into trace.ranks */
    const struct steps *steps; /* as they were wished for; valid if chosen */
    struct steps *own_steps;   /* those, if they are not the file's; owned */
    bool clashes;            /* another file of its rank cannot be a cycle of the same run (T8) */
    int64_t first_step; /* the number of the first of them, if they are by annotation (T21) */
};

struct trace {
    struct trace_paths paths;
    struct trace_member *members; /* in the order of their paths and parts */
    size_t count;
    int64_t *ranks;   /* distinct, ascending */
    int64_t *origins; /* T2: ns, for each rank whose files are loaded; NUMBER_NONE */
    size_t rank_count;
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
};

/* Opens traces; the files of all of them are read side by side. A file whose head tells that its
** rank was not asked for is not read further. The traces are to be closed on failure, too. */
bool trace_open(struct trace *const *traces, const struct trace_request *requests, size_t count,
                struct cache *cache, struct failure *failure);

/* Does nothing to a zeroed struct. */
void trace_close(struct trace *trace);

/* The number of a step, by index of its iterations. */
static inline int64_t member_iteration(const struct trace_member *member, uint32_t iteration)
{
    return member->steps->iterations[iteration] + member->first_step;
}

/* T13: for each rank, a time in ns. An analysis counts an event only if the event, or the event
** that places it (its launch, or see annotations.h), begins before that time. It is the start of
** the rank's last step or, if that step is included, just after its end. INT64_MAX: a rank with
** fewer than two steps is kept whole. `limits` has room for every rank. */
void trace_last_step(const struct trace *trace, bool included, int64_t *limits);

/* The steps of a trace that were chosen. */
struct step_choice {
    bool everything;        /* every event, whether in a step or not */
    unsigned char **chosen; /* by member, then by index of its iterations; may be NULL */
    int64_t steps;          /* times per step are divided by this (T12); at least 1 */
};

/* Whose steps are chosen. */
enum step_owners {
    STEPS_OF_RANKS, /* of the chosen ranks */
    STEPS_OF_JOB,   /* of the reference of the job that they are (Q1) */
    STEPS_OF_ANY    /* of the chosen ranks, as far as they have the phase */
};

/* Chooses steps. SELECT_DEFAULT: the lowest step. A trace without steps is taken whole. If only some
** ranks have steps, that is a FAILURE_REQUEST, unless all iterations are asked for (T12). So is a phase that
** no step of an owner has (T23), unless STEPS_OF_ANY. */
bool trace_choose_steps(const struct trace *trace, const struct selection *iterations,
                        enum step_owners owners, const char *subject, struct step_choice *choice,
                        struct failure *failure);

/* Whether a phase, or stratum, is that of a steady step of a file (T23). */
bool trace_has_phase(const struct trace_member *member, const char *phase, bool *has,
                     struct failure *failure);

/* The reference of the job that the chosen ranks are: the lowest of those that have steps, or if none has,
** the lowest. Returns a file of it; NULL if no rank is chosen. */
const struct trace_member *trace_reference(const struct trace *trace);

void step_choice_clear(const struct trace *trace, struct step_choice *choice);

#endif
