/*
** Pairs of equal events in two traces (E8.5), step by step.
*/
#ifndef TRACEDIFF_UNDO_PAIRS_H
#define TRACEDIFF_UNDO_PAIRS_H

#include "undo_sequence.h"

/* A step of test, and the step of control to compare it with. */
struct undo_pair_of_steps {
    size_t first[2], end[2]; /* events of control and of test */
};

/* Numbers of steps. */
struct undo_chosen {
    int64_t *items;
    size_t count;
};

struct undo_pairs {
    const struct undo_sequence *control, *test;
    struct undo_pair_of_steps *steps; /* by step of test; owned */
    size_t step_count;
    uint32_t *pair; /* by event of test: the event of control, or UNDO_NONE */
};

/* `chosen` has the numbers of the chosen steps of control and test, ascending. */
bool undo_pairs_make(struct undo_pairs *pairs, const struct undo_sequence *control,
                     const struct undo_sequence *test, const struct undo_chosen *chosen,
                     const struct stopper *stopper, struct failure *failure);

/* Find an edge of an event, with its node; the edge is SIM_NONE if the event has none.
** * begin: the lag before the begin of a host event; the launch latency of device work
** * end: the lag before the end of a host event; the duration or transfer of device work
** * wait: the wait of a call for device work; the gap between device work and the work before it */
struct sim_use undo_begin_use(const struct sim_graph *graph, const struct undo_event *event);
struct sim_use undo_end_use(const struct sim_graph *graph, const struct undo_event *event);
struct sim_use undo_wait_use(const struct sim_graph *graph, const struct undo_event *event);

/* Returns the edge before the begin or, with `end`, before the end of a host event. */
static inline struct sim_use undo_point_use(const struct sim_graph *graph,
                                            const struct undo_event *event, bool end)
{
    return end ? undo_end_use(graph, event) : undo_begin_use(graph, event);
}

/* Returns the lag of an edge, ns; NUMBER_NONE without an edge. */
int64_t undo_lag(const struct sim_graph *graph, struct sim_use use);

/* Take a launch-latency edge. undo_launching() returns the ns of its lag while the launch runs
** (A6), undo_launch_edge() the edge before the launch's end, or SIM_NONE. */
int64_t undo_launching(const struct sim_graph *graph, struct sim_use use);
uint32_t undo_launch_edge(const struct sim_graph *graph, struct sim_use use);

/* Returns how much longer a call waits for its copy (E4.3) in control, ns. SIM_GONE: it waits only
** in test; 0: it does not wait in test. */
int64_t undo_copy_longer(const struct undo_pairs *pairs, const struct undo_event *event,
                         const struct undo_event *twin);

/* Returns how much longer a thread waits for a collective (E7.4) in control, ns. `was` is the node
** of control where the thread continues. If it does not wait there, the difference of the
** collective itself counts (E9.1), or 0 if that is unknown. */
int64_t undo_wait_longer(const struct undo_pairs *pairs, struct sim_use wait, uint32_t was);

void undo_pairs_clear(struct undo_pairs *pairs);

/* A step of test beside its step of control. */
struct undo_step {
    const struct undo_pairs *pairs;
    size_t number;     /* index of the next pair of steps */
    size_t first, end; /* events of test */
    size_t from, to;   /* events of control */
    uint32_t *test_of; /* by event of control, from `from` on: the event of test, or UNDO_NONE */
    const struct undo_point *points; /* host points of control, by lane, then by node */
    size_t point_count;
    size_t *begins, *ends; /* by event of control, from `from` on: its points */
    /* By point: the nearest paired points of its thread, before and after it or the point itself;
    ** SIZE_MAX if there is none. */
    size_t *last, *next;
};

/* Moves to the next pair of steps; false at the end, and on failure. Initialize only `pairs` before
** the first call. */
bool undo_step_next(struct undo_step *step, const struct stopper *stopper, struct failure *failure);

/* Returns the event of test paired with an event of control, or UNDO_NONE. */
static inline uint32_t undo_test_of(const struct undo_step *step, uint32_t event)
{
    return step->test_of[event - step->from];
}

/* Returns the node in test of a point whose event is paired. */
uint32_t undo_test_node(const struct undo_step *step, size_t point);

/* Accepts a zeroed struct. */
void undo_step_clear(struct undo_step *step);

/* A call tree of one side to undo with a cause (E9.2), by its outermost event. */
struct undo_tree {
    uint32_t event, cause;
};

struct undo_trees {
    struct undo_tree *items;
    size_t count, capacity;
};

/* Adds the call tree around an event of a side, unless the cause is UINT32_MAX or the other side
** has the event. The tree extends outwards from the event through operators and calls that the
** other side lacks. */
bool undo_trees_add(struct undo_trees *trees, const struct undo_step *step,
                    const struct undo_sequence *side, uint32_t event, uint32_t cause,
                    struct failure *failure);

/* Sorts trees and removes duplicates. */
bool undo_trees_sort(struct undo_trees *trees, const struct stopper *stopper,
                     struct failure *failure);

#endif
