/*
** The events of two traces that are the same (E8.5), step by step: the kth chosen step of a rank of
** test is compared with the kth of control, from the beginning again if control has fewer; steps
** before and after them with those of control that are as far from its chosen ones, or with the
** first or last of these.
*/
#ifndef TRACEDIFF_UNDO_PAIRS_H
#define TRACEDIFF_UNDO_PAIRS_H

#include "undo_sequence.h"

/* A step of test, and the one of control that it is compared with. */
struct undo_pair_of_steps {
    size_t first[2], end[2]; /* their events: of control and of test */
};

/* The numbers of steps. */
struct undo_chosen {
    int64_t *items;
    size_t count;
};

struct undo_pairs {
    const struct undo_sequence *control, *test;
    struct undo_pair_of_steps *steps; /* by those of test; owned */
    size_t step_count;
    uint32_t *pair; /* by event of test: an event of control, or UNDO_NONE */
};

/* `chosen` are the numbers of the chosen steps of control and test, ascending. */
bool undo_pairs_make(struct undo_pairs *pairs, const struct undo_sequence *control,
                     const struct undo_sequence *test, const struct undo_chosen *chosen,
                     const struct stopper *stopper, struct failure *failure);

/* The edges of the lags of an event, and the nodes that they lead to; the edge is SIM_NONE if it
** has none. Of the host these are the lags before its begin and its end, and that after work that a
** call waits for; of device work the launch latency, the duration or transfer, and the gap after
** the work before it. */
struct sim_use undo_begin_use(const struct sim_graph *graph, const struct undo_event *event);
struct sim_use undo_end_use(const struct sim_graph *graph, const struct undo_event *event);
struct sim_use undo_wait_use(const struct sim_graph *graph, const struct undo_event *event);

/* Of the host: the first of them, or the second. */
static inline struct sim_use undo_point_use(const struct sim_graph *graph,
                                            const struct undo_event *event, bool end)
{
    return end ? undo_end_use(graph, event) : undo_begin_use(graph, event);
}

/* The lag of such an edge, ns; NUMBER_NONE without. */
int64_t undo_lag(const struct sim_graph *graph, struct sim_use use);

/* Of the edge of a launch latency: how much of that lag passes while the launch runs (A6), ns, and
** the edge of the lag before the end of the launch, or SIM_NONE. */
int64_t undo_launching(const struct sim_graph *graph, struct sim_use use);
uint32_t undo_launch_edge(const struct sim_graph *graph, struct sim_use use);

/* By how much the wait of a call for its copy (E4.3) is longer in control, ns: SIM_GONE if it does
** not wait there, 0 if it does not here. */
int64_t undo_copy_longer(const struct undo_pairs *pairs, const struct undo_event *event,
                         const struct undo_event *twin);

/* By how much the wait of a thread for a collective (E7.4) is longer in control, ns; `was` is the
** node of control where the thread goes on. If it does not wait there, that is by how much the
** collective itself is longer; 0 if that is not known. */
int64_t undo_wait_longer(const struct undo_pairs *pairs, struct sim_use wait, uint32_t was);

void undo_pairs_clear(struct undo_pairs *pairs);

/* A step of test beside the step of control that it is compared with. */
struct undo_step {
    const struct undo_pairs *pairs;
    size_t number;     /* of the next pair of steps */
    size_t first, end; /* the events of test */
    size_t from, to;   /* those of control */
    uint32_t *test_of; /* by event of control, from `from` on: the event of test, or UNDO_NONE */
    const struct undo_point *points; /* of threads of control, by lane, then by node */
    size_t point_count;
    size_t *begins, *ends; /* by event of control, from `from` on: its points */
    /* By point: the last one before it or itself, and the next one after it or itself, of its
    ** thread, whose event is paired; SIZE_MAX. */
    size_t *last, *next;
};

/* Moves to the next pair of steps. False at the end, and on failure. A struct with `pairs` alone is
** before the first. */
bool undo_step_next(struct undo_step *step, const struct stopper *stopper, struct failure *failure);

/* The event of test that an event of control is paired with, or UNDO_NONE. */
static inline uint32_t undo_test_of(const struct undo_step *step, uint32_t event)
{
    return step->test_of[event - step->from];
}

/* The node of test of a point whose event is paired. */
uint32_t undo_test_node(const struct undo_step *step, size_t point);

/* Does nothing to a zeroed struct. */
void undo_step_clear(struct undo_step *step);

/* A call tree of one side that is undone with a cause (E9.2), by its outermost event. */
struct undo_tree {
    uint32_t event, cause;
};

struct undo_trees {
    struct undo_tree *items;
    size_t count, capacity;
};

/* Adds the tree of an event of a side, unless the cause is UINT32_MAX or the other side has the
** event. A tree is the outermost event that holds the begin of this one, from that on outwards, as
** long as all in between are operators or calls that the other side does not have. */
bool undo_trees_add(struct undo_trees *trees, const struct undo_step *step,
                    const struct undo_sequence *side, uint32_t event, uint32_t cause,
                    struct failure *failure);

/* Sorts trees, and leaves each there once. */
bool undo_trees_sort(struct undo_trees *trees, const struct stopper *stopper,
                     struct failure *failure);

#endif
