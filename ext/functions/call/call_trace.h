/*
** Opens the trace that an argument of a call names, and selects the ranks and steps that other
** arguments give.
*/
#ifndef TRACEDIFF_CALL_TRACE_H
#define TRACEDIFF_CALL_TRACE_H

#include "analysis/sums/summary.h"
#include "sqlite/arguments.h"
#include "sqlite/table_function.h"
#include "trace/common_ranks.h"

struct call_trace_request {
    int side;         /* as of argument_of() */
    bool capture;     /* the trace is that of a capture */
    bool whole;       /* all ranks and steps, whatever the arguments say */
    const char *path; /* NULL: an argument names the trace; else this does */
    enum selection_kind default_ranks; /* if there is an argument for ranks */
    enum trace_use use;
    const bool *phases;  /* as in struct load_options */
    const char *subject; /* name of the trace in errors, as `control`; NULL: `the trace` */
    bool of_profiler;    /* steps are those of T11, as for 'first' (T23.3), without a pattern */
    bool job;            /* the ranks are a job, whatever the arguments say */
    /* NULL: as the arguments say, like `iterations`; SELECT_DEFAULT is as without the argument. */
    const struct selection *ranks;
    const struct selection *iterations;
    bool quoted;         /* errors quote the argument's text instead of `subject` */
};

struct call_trace {
    struct trace trace;
    struct step_choice steps; /* filled if the function has an argument for iterations */
    bool job;                 /* the ranks are one job (Q1) */
};

/* On failure, fills call->failure, leaves nothing open and returns false. */
bool call_trace_open(struct call *call, const struct call_trace_request *request,
                     struct call_trace *opened);

/* The same for several traces, at most MOST_TRACES, whose files are read side by side. */
enum { MOST_TRACES = 2 };
bool call_traces_open(struct call *call, const struct call_trace_request *requests, size_t count,
                      struct call_trace *opened);

/* Reads what is selected: a copy of what is given, else what the argument says, unless it is -1. */
bool call_selection(struct call *call, const struct selection *given, int argument,
                    struct selection *selection);

/* The same for control and test of a diff, whose files are read side by side. */
bool call_sides_open(struct call *call, struct call_trace *opened);

/* What call_sides_open() opens, if it is not what the arguments say. */
struct call_sides_request {
    const struct selection *ranks[2]; /* as in struct call_trace_request, like `iterations` */
    const struct selection *iterations[2];
    bool quoted;
};
bool call_sides_open_as(struct call *call, const struct call_sides_request *request,
                        struct call_trace *opened);

/* Opens one of the ranks of a side that is open, and stays so as long, with steps as it was opened
** with. On failure, as call_trace_open(). */
bool call_trace_of_rank(struct call *call, const struct call_trace *from, int side, int64_t rank,
                        const struct selection *iterations, struct call_trace *opened);

/* Finds the ranks that two traces have in common (Q1.4): if two or more are not left out, they are
** compared as a job by default. */
bool call_common_ranks(struct call *call, struct common_ranks *common);

/* Does nothing to a zeroed struct. */
void call_trace_close(struct call_trace *opened);

/* A flag for each of a file's iterations: whether it is chosen. NULL: everything is. */
const unsigned char *call_trace_steps(const struct call_trace *opened, size_t member);

/* Whether a chosen file has steps. */
bool call_trace_has_steps(const struct call_trace *opened);

/* Bytes of memory that the chosen files hold. */
size_t call_trace_memory(const struct call_trace *opened);

/* A complete producer: opens a trace and calls `add` for each of its files in turn, including
** those that are not chosen. On failure, `add` fills call->failure. */
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
