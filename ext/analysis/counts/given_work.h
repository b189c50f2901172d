/*
** Device work that one side launches in other operators than the other side, or in graphs.
*/
#ifndef TRACEDIFF_GIVEN_WORK_H
#define TRACEDIFF_GIVEN_WORK_H

#include "run_changes.h"

/* What runs: 2 times the id of a name, and 1 more if it is a kernel. */
typedef uint32_t subject;

static inline bool is_kernel(subject of)
{
    return of % 2 == 1;
}

struct execution {
    int64_t start, dur; /* ns */
    subject of;
    uint32_t window; /* index of its step among the chosen ones of its side */
    uint32_t around; /* index of the innermost execution of an operator that holds its start */
    bool begins;     /* it is the first of its thread */
    bool inside;     /* it changed, and is in an execution of another operator that did (L5.5) */
};

#define EXECUTION_NONE UINT32_MAX
#define EXECUTION_OTHER (UINT32_MAX - 1) /* one that does not count (L5.1) */

/* Device work. */
struct device_run {
    int64_t launched, dur; /* ns */
    uint32_t kernel;       /* id of a name */
    uint32_t window;
    uint32_t around; /* index of the innermost execution of an operator around its launch */
    uint32_t replay; /* number of its graph launch (A14) on its side; REPLAY_NONE: another launch */
};

#define REPLAY_NONE UINT32_MAX

/* The executions of control or test. Operators come thread by thread, from outer to inner. */
struct side_runs {
    struct execution *items;
    size_t count, capacity;
    uint32_t windows;
    size_t *first;    /* by subject: index in `order`; one entry more at the end */
    uint32_t *order;  /* indices of items, by subject */
    uint32_t *counts; /* scratch, by window; all 0 */
    struct device_run *work; /* if kernels are compared */
    size_t work_count, work_capacity;
    uint32_t replays;
    enum graph_api graph_api;
};

/* Brings the device work of both sides in the order that these need. */
bool given_work_sort(struct side_runs *sides, const struct stopper *stopper,
                     struct failure *failure);

/* Finds the operators whose work runs in graphs on one side only (C20). `names`: how many ids there
** are. */
bool given_work_to_graphs(struct graph_change *change, size_t names, const struct side_runs *sides,
                          const struct stopper *stopper, struct failure *failure);

/* Unmarks the subjects that changed only in that others launch their device work, and marks those
** of which graphs do (L5.7). Both arrays are by subject. */
bool given_work_leave_out(bool *changed, bool *in_graphs, size_t names,
                          const struct side_runs *sides, const struct stopper *stopper,
                          struct failure *failure);

#endif
