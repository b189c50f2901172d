/*
** A trace: the files of one run, with their ranks.
*/
#ifndef TRACEDIFF_TRACE_H
#define TRACEDIFF_TRACE_H

#include "cache.h"
#include "directory.h"
#include "select.h"

enum rank_source { RANK_DISTRIBUTED_INFO, RANK_NAME, RANK_ORDER };

struct trace_member {
    const char *path;        /* of trace.paths */
    struct trace_file *file; /* one reference; NULL if it cannot be read */
    struct failure failure;  /* why */
    const char *twin;        /* while a trace is opened: the path of the same file, or NULL */
    bool is_trace;           /* T16: false for files that merely lie there */
    bool chosen;             /* of a rank that was asked for, and loaded */
    enum rank_source rank_source;
    int64_t rank;      /* if is_trace */
    size_t rank_index; /* in trace.ranks */
};

struct trace {
    struct trace_paths paths;
    struct trace_member *members; /* in the order of their paths */
    size_t count;
    int64_t *ranks;   /* ascending, each once */
    int64_t *origins; /* T2: ns, of each rank whose files are loaded; NUMBER_NONE */
    size_t rank_count;
};

/* What a trace is opened for decides what its files must be (T8, T15, T16). */
enum trace_use {
    TRACE_READABLE = 1, /* every file can be read, and those named are traces */
    TRACE_CYCLES = 2,   /* files of one rank are cycles of one run */
    TRACE_WHOLE = 4,    /* no chosen file is damaged */
    TRACE_FOR_FILES = 0,
    TRACE_FOR_EVENTS = TRACE_READABLE,
    TRACE_FOR_STEPS = TRACE_READABLE | TRACE_CYCLES,
    TRACE_FOR_DIFF = TRACE_READABLE | TRACE_CYCLES | TRACE_WHOLE
};

struct trace_request {
    enum trace_use use;
    const bool *phases;            /* as in file_load() */
    const struct selection *ranks; /* SELECT_DEFAULT: the lowest */
    const char *subject;           /* for errors: `control`, `the trace` */
};

/* Opens the files of `paths`, which it takes over, sorted. A file of a rank that
** is not asked for is not read beyond its head where that tells its rank. */
bool trace_open(struct trace *trace, struct trace_paths *paths, struct cache *cache,
                const struct trace_request *request, struct failure *failure);

void trace_close(struct trace *trace);

/* T13: by rank, the time (ns) before which an event must begin for an analysis to count
** it, or the event it goes by (its launch; annotations.h): the start of the rank's last
** step, or, if that is included, just after its end. INT64_MAX: a rank with fewer than two steps is
** kept whole. `limits` has room for every rank. */
void trace_last_step(const struct trace *trace, bool included, int64_t *limits);

/* Which steps of a trace are meant. */
struct step_choice {
    bool everything;        /* every event, in a step or not */
    unsigned char **chosen; /* by member, by index of its iterations; may be NULL */
    int64_t steps;          /* what is given a step is divided by this (T12): 1 at the least */
};

/* SELECT_DEFAULT: the lowest step of the chosen ranks. A trace without steps is taken
** whole. A rank without steps beside a rank with steps is a FAILURE_REQUEST, unless all
** iterations are asked for (T12). */
bool trace_choose_steps(const struct trace *trace, const struct selection *iterations,
                        const char *subject, struct step_choice *choice, struct failure *failure);

void step_choice_clear(const struct trace *trace, struct step_choice *choice);

#endif
