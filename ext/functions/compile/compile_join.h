/*
** The compilations in the steps of a trace, from its events and its logs (CL11).
*/
#ifndef TRACEDIFF_COMPILE_JOIN_H
#define TRACEDIFF_COMPILE_JOIN_H

#include "call_logs.h"
#include "functions/call/call_trace.h"

/* A compilation in a step. */
struct compile_in_step {
    int64_t rank, step;           /* step: NUMBER_NONE in a trace without steps */
    int64_t step_start, step_end; /* ns */
    int64_t start, end;           /* ns, start and end of the compilation */
    enum compile_part part;
    bool by_log;                  /* its times come from the log */
    uint32_t compilation;         /* index in the log; COMPILE_NONE: not in the log */
    const char *id, *name;        /* NULL: unknown; owned by the log or the trace's names */
    size_t id_length, name_length;
    int64_t recompile;            /* 0, 1 or NUMBER_NONE */
    int64_t frame;                /* 0-based order in which frames first ran (CL11), or -1 */
    int64_t phases[COMPILE_PHASES];
};

struct compile_join {
    struct compile_log log;
    bool *used; /* by process of the log: whether it belongs to the trace */
    struct compile_in_step *items; /* by rank, step and start */
    size_t count, capacity;
    bool compiled; /* the trace has events of the compiler or of compiled code */
};

/* Finds the compilations in the chosen steps; `argument` is like in call_logs_of_trace(). Clear
** them on failure, too. */
bool compile_join_find(struct call *call, const struct call_trace *opened, int argument,
                       struct compile_join *join);

void compile_join_clear(struct compile_join *join);

static inline int64_t compile_ns_in_step(const struct compile_in_step *item)
{
    int64_t start = item->start > item->step_start ? item->start : item->step_start;
    int64_t end = item->end < item->step_end ? item->end : item->step_end;
    return end > start ? end - start : 0;
}

#endif
