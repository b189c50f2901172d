/*
** Opens the trace that an argument of a call names, and selects the ranks and steps given by other
** arguments.
*/
#ifndef TRACEDIFF_CALL_TRACE_H
#define TRACEDIFF_CALL_TRACE_H

#include "analysis/sums/summary.h"
#include "sqlite/arguments.h"
#include "sqlite/table_function.h"
#include "trace/common_ranks.h"

struct call_trace_request {
    int side;         /* side in argument_of() */
    bool capture;     /* open the trace of a graph capture */
    bool whole;       /* all ranks and steps, whatever the arguments select */
    const char *path; /* path of the trace; NULL: an argument names it */
    enum selection_kind default_ranks; /* default of the argument for ranks */
    enum trace_use use;
    const bool *phases;  /* wanted phases, like in struct load_options */
    const char *subject; /* name of the trace in errors, such as `control`; NULL: `the trace` */
    bool of_profiler;    /* without a pattern, steps come from T11, like with 'first' (T23.3) */
    bool job;            /* the ranks are one job, whatever the arguments say */
    /* NULL: from the arguments, like `iterations`. SELECT_DEFAULT acts like a missing argument. */
    const struct selection *ranks;
    const struct selection *iterations;
    bool quoted;         /* errors quote the text of the argument instead of `subject` */
};

struct call_trace {
    struct trace trace;
    struct step_choice steps; /* set if the function has an argument for iterations */
    bool job;                 /* the ranks are one job (Q1) */
};

/* On failure, fills call->failure, leaves nothing open and returns false. */
bool call_trace_open(struct call *call, const struct call_trace_request *request,
                     struct call_trace *opened);

/* The same for up to MOST_TRACES traces. Their files are read in parallel. */
enum { MOST_TRACES = 2 };
bool call_traces_open(struct call *call, const struct call_trace_request *requests, size_t count,
                      struct call_trace *opened);

/* Reads a selection: a copy of `given`, or else from the argument, unless its index is -1. */
bool call_selection(struct call *call, const struct selection *given, int argument,
                    struct selection *selection);

/* The same for control and test of a comparison. Their files are read in parallel. */
bool call_sides_open(struct call *call, struct call_trace *opened);

/* Overrides the selections of the arguments in call_sides_open(). */
struct call_sides_request {
    const struct selection *ranks[2]; /* like in struct call_trace_request */
    const struct selection *iterations[2];
    bool quoted;
};
bool call_sides_open_as(struct call *call, const struct call_sides_request *request,
                        struct call_trace *opened);

/* Opens one rank of an open side, with the same steps. The side must stay open as long. On failure,
** acts like call_trace_open(). */
bool call_trace_of_rank(struct call *call, const struct call_trace *from, int side, int64_t rank,
                        const struct selection *iterations, struct call_trace *opened);

/* Finds the ranks that both traces have (Q1.4). If two or more of them remain, they are compared as
** a job by default. */
bool call_common_ranks(struct call *call, struct common_ranks *common);

/* Does nothing to a zeroed struct. */
void call_trace_close(struct call_trace *opened);

/* Returns a flag for each of a file's iterations: whether it is chosen. NULL: everything is. */
const unsigned char *call_trace_steps(const struct call_trace *opened, size_t member);

/* Whether a chosen file has steps. */
bool call_trace_has_steps(const struct call_trace *opened);

/* Returns the memory of the chosen files in bytes. */
size_t call_trace_memory(const struct call_trace *opened);

/* A complete producer: opens a trace and calls `add` for each of its files in turn, including
** unchosen files. On failure, `add` fills call->failure. */
int call_trace_rows(struct call *call, const struct call_trace_request *request, struct rows **rows,
                    void (*add)(struct call *call, struct result *result,
                                const struct call_trace *opened, size_t member));

/* Descriptions of arguments that several functions share. */
#define TRACE_ARGUMENT "trace", TAKES_TRACE, true, "directory, file, pattern or JSON array of these"
#define RANKS_ARGUMENT \
    "ranks", TAKES_RANKS, false, \
        "integer, JSON array, a place such as 'tp=0,pp=1', or 'all'; default the lowest"
#define JOB_RANKS_ARGUMENT              \
    "ranks", TAKES_RANKS_OR_JOB, false, \
        "integer, JSON array, a place such as 'tp=0,pp=1', 'all', or 'job' (all ranks as one); " \
        "default the lowest"
#define STEADY_STEPS_TEXT                                                              \
    "integer, JSON array, 'all', 'steady' (without first and last), 'first' or a phase; " \
    "default 'steady'"
#define STEPS_ARGUMENT STEPS_ARGUMENT_AS("steps")
#define STEPS_ARGUMENT_AS(name)                                                                 \
    name, TAKES_STEPS, false,                                                                   \
        "which events are steps: 'auto', 'profiler', a LIKE pattern or a JSON array of these; " \
        "default 'auto'"
#define DEVICE_TYPE_ARGUMENT \
    "device_type", TAKES_TEXT, false, "'ALL', 'CPU' or 'GPU'; default 'ALL'"
#define CONTROL_ARGUMENT "control", TAKES_TRACE, true, "baseline trace"
#define TEST_ARGUMENT "test", TAKES_TRACE, true, "trace to compare with the baseline"
/* clang-format off */
#define SELECTIONS_BY(kind, ranks) \
    {"control_rank", kind, false, ranks}, \
    {"test_rank", kind, false, "the same for test"}, \
    {"control_iteration", TAKES_ITERATIONS, false, STEADY_STEPS_TEXT}, \
    {"test_iteration", TAKES_ITERATIONS, false, "the same for test"}
#define SELECTIONS_OF_STEPS \
    SELECTIONS_BY(TAKES_RANKS, \
                  "integer, JSON array, a place such as 'tp=0,pp=1', or 'all'; default the lowest")
#define SELECTIONS_OF_DIFF SELECTIONS_OF_STEPS, {DEVICE_TYPE_ARGUMENT}
#define SELECTIONS_OF_JOB \
    SELECTIONS_BY(TAKES_RANKS_OR_JOB, \
                  "integer, JSON array, a place such as 'tp=0,pp=1', 'all', or 'job' (all ranks " \
                  "as one); default 'job' if both have several ranks, else the lowest")
/* clang-format on */
#define USE_SHORT_NAME_ARGUMENT             \
    "use_short_name", TAKES_INTEGER, false, \
        "0 the full name, 1 trace_short_name, 2 trace_stable_name; default 2"

#endif
