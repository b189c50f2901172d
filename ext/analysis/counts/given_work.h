/*
** Device work that the sides launch in different operators, or only one side in graphs.
*/
#ifndef TRACEDIFF_GIVEN_WORK_H
#define TRACEDIFF_GIVEN_WORK_H

#include "run_changes.h"

/* An operator or a kernel: 2 times its name id, plus 1 for a kernel. */
typedef uint32_t subject;

static inline bool is_kernel(subject of)
{
    return of % 2 == 1;
}

struct execution {
    int64_t start, dur; /* ns */
    subject of;
    uint32_t window; /* index of its step among its side's chosen steps */
    uint32_t around; /* index of the innermost execution of an operator at its start */
    bool begins;     /* the first execution of its thread */
    bool inside;     /* changed, and inside another operator's execution that changed (L5.5) */
};

#define EXECUTION_NONE UINT32_MAX
#define EXECUTION_OTHER (UINT32_MAX - 1) /* an execution that does not count (L5.1) */

/* An execution of a kernel. */
struct device_run {
    int64_t launched, dur; /* ns */
    uint32_t kernel;       /* name id */
    uint32_t window;
    uint32_t around; /* index of the innermost operator execution around its launch */
    uint32_t replay; /* number of its graph launch (A14) on its side, or REPLAY_NONE */
};

#define REPLAY_NONE UINT32_MAX

/* The executions of control or test. Operators are grouped by thread, from outer to inner. */
struct side_runs {
    struct execution *items;
    size_t count, capacity;
    uint32_t windows;
    size_t *first;    /* by subject: index in `order`, with an end entry */
    uint32_t *order;  /* indices of items, by subject */
    uint32_t *counts; /* scratch, by window; all 0 */
    struct device_run *work; /* only if kernels are compared */
    size_t work_count, work_capacity;
    uint32_t replays;
    enum graph_api graph_api;
};

/* Sorts the device work of both sides for the functions below. */
bool given_work_sort(struct side_runs *sides, const struct stopper *stopper,
                     struct failure *failure);

/* Finds the operators whose work runs in graphs on one side only (C20). `names`: number of name
** ids. */
bool given_work_to_graphs(struct graph_change *change, size_t names, const struct side_runs *sides,
                          const struct stopper *stopper, struct failure *failure);

/* Unmarks the subjects that changed only because others launch their device work, and marks
** subjects whose work moved into graphs or out of them (L5.7). Both arrays are by subject. */
bool given_work_leave_out(bool *changed, bool *in_graphs, size_t names,
                          const struct side_runs *sides, const struct stopper *stopper,
                          struct failure *failure);

#endif
