/*
** Operators and kernels that run more or less often in another trace (L5), or run in graphs there.
*/
#ifndef TRACEDIFF_RUN_CHANGES_H
#define TRACEDIFF_RUN_CHANGES_H

#include "trace/step_choice.h"

/* An operator or a kernel; arrays are by side: control, test. */
struct run_change {
    uint32_t name; /* id in run_changes.names */
    bool is_kernel;
    double counts[2];         /* a step: the median over the steps */
    uint32_t low[2], high[2]; /* the range over the steps */
    double duration;          /* ns, the median of the executions of both sides */
    double size;              /* ns per step: |test's counts - control's| times the duration */
};

/* Who calls what launches a graph. */
enum graph_api { GRAPH_CUDA, GRAPH_HIP, GRAPH_OTHER };

/* Operators whose device work runs in graphs on one side only: C20. */
struct graph_change {
    uint32_t operators; /* executions per step; 0: there are none */
    bool into;          /* test runs them in graphs, not control */
    double launches;    /* of these graphs a step, the median over the steps */
    enum graph_api api;
};

struct run_changes {
    struct names names;
    struct run_change *items; /* the largest first; ties: operators before kernels, then by name */
    size_t count;
    struct graph_change graphs;
};

/* The chosen steps of control or test. */
struct run_side {
    const struct trace *trace;
    const struct step_choice *choice;
};

/* Finds what changed between two sides; `kernels`: kernels, too. On failure nothing is left to
** clear. */
bool run_changes_find(struct run_changes *changes, const struct run_side *sides, bool kernels,
                      const struct stopper *stopper, struct failure *failure);

void run_changes_clear(struct run_changes *changes);

#endif
