/*
** Operators and kernels that execute more or less often in test (L5), or run in graphs on one side
** only.
*/
#ifndef TRACEDIFF_RUN_CHANGES_H
#define TRACEDIFF_RUN_CHANGES_H

#include "trace/step_choice.h"

/* A change of an operator or a kernel; arrays are by side: control, test. */
struct run_change {
    uint32_t name; /* id in run_changes.names */
    bool is_kernel;
    double counts[2];         /* per step: median over the steps */
    uint32_t low[2], high[2]; /* range over the steps */
    double duration;          /* ns: median of the executions on both sides */
    double size;              /* ns per step: |test's counts - control's| times the duration */
};

/* The API that launches a graph. */
enum graph_api { GRAPH_CUDA, GRAPH_HIP, GRAPH_OTHER };

/* Operators whose device work runs in graphs on one side only: C20. */
struct graph_change {
    uint32_t operators; /* executions per step; 0: none */
    bool into;          /* test runs them in graphs, control does not */
    double launches;    /* launches of these graphs per step, median over the steps */
    enum graph_api api;
};

struct run_changes {
    struct names names;
    struct run_change *items; /* largest first; ties: operators before kernels, then by name */
    size_t count;
    struct graph_change graphs;
};

/* The chosen steps of control or test. */
struct run_side {
    const struct trace *trace;
    const struct step_choice *choice;
};

/* Finds the changed operators between two sides and, with `kernels`, the changed kernels. On
** failure there is nothing to clear. */
bool run_changes_find(struct run_changes *changes, const struct run_side *sides, bool kernels,
                      const struct stopper *stopper, struct failure *failure);

void run_changes_clear(struct run_changes *changes);

#endif
