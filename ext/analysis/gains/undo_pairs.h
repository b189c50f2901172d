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

/* By how much the wait of a thread for a collective (E7.4) is longer in control, ns; `was` is the
** node of control where the thread goes on. If it does not wait there, that is by how much the
** collective itself is longer; 0 if that is not known. */
int64_t undo_wait_longer(const struct undo_pairs *pairs, struct sim_use wait, uint32_t was);

void undo_pairs_clear(struct undo_pairs *pairs);

#endif
