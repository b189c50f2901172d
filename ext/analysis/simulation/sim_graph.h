/*
** What of a trace waits for what (E1 to E7): a node for the begin and the end of each host event
** and each piece of device work, over all steps of the chosen ranks. It is a model: what a
** recording does not say is taken to stay as it was.
**
** The time of a node is the latest, over its edges, of the time of another node and a lag. An edge
** has a slack: how much earlier than the node this was in the recording. Each node that has edges
** has one without slack, so with the lags of the recording every time is the recorded one.
*/
#ifndef TRACEDIFF_SIM_GRAPH_H
#define TRACEDIFF_SIM_GRAPH_H

#include "analysis/job/sim_clocks.h"
#include "sim_sample.h"
#include "sim_work.h"

#define SIM_NONE UINT32_MAX
#define SIM_LONGEST ((int64_t)1 << 61) /* ns: lags, and slacks that can be used up, are shorter */

#define SIM_LONG_LAUNCH 100000 /* ns: work may wait for a launch that takes longer (E3.6, E9.1) */

/* What an edge stands for. */
enum sim_edge {
    EDGE_HOST,     /* the time of a thread before a point (E2) */
    EDGE_DEVICE,   /* the duration of device work */
    EDGE_TRANSFER, /* that of a collective: from the last start to the end on a rank (E5) */
    EDGE_LAUNCH,   /* from a launch to its work (E3) */
    EDGE_STREAM,   /* from work to the next of its stream, or to that of one that waits (E3, E6) */
    EDGE_SYNC,   /* from work to the end of a call that waits for it (E4) */
    /* From the begin of a copy to the end of its call, which ends before it: that much of its
    ** duration (E4). */
    EDGE_COPY,
    EDGE_THREAD, /* from one thread to another (E7) */
    /* From the last start of a collective of the host to where a thread that waits goes on: its
    ** transfer, too (E7). */
    EDGE_WAIT,
    /* From the start of a collective on a rank to that on the ranks so far, and to its end
    ** there. */
    EDGE_MEETING,
    EDGE_GHOST /* of what the trace does not have (E9) */
};

/* The nodes of a member, by row: SIM_NONE for rows that do not take part. */
struct sim_rows {
    uint32_t *begins, *ends;
};

/* The lag of an edge from a meeting, which may be of another rank. */
struct sim_far {
    uint32_t edge, row; /* the row is that of the collective on the rank where the edge leads */
    int64_t lag;        /* ns */
};

struct sim_graph {
    const struct trace *trace;
    const struct sim_sample *sample; /* what is simulated of it; NULL: all */
    struct job job;        /* that the ranks of the trace are */
    struct sim_clocks clocks; /* of its ranks */
    struct sim_rows *rows; /* by member */
    size_t nodes;          /* in an order in which edges lead onwards */
    int64_t *at; /* by node: ns, by the clock of its rank; of a meeting, by that of the reference */
    uint32_t *row, *member; /* by node; SIM_NONE: a meeting */
    uint32_t *first;        /* by node: its first edge; one entry more at the end */
    uint32_t *from;        /* by edge: a node */
    int64_t *slack;        /* by edge: ns, 0 or more */
    unsigned char *kind;   /* by edge: enum sim_edge */
    size_t edges, capacity;
    struct sim_far *far; /* by edge */
    size_t far_count, far_capacity;
    size_t dropped; /* dependencies that the recorded times contradict (E1) */
    size_t works, early;  /* device work; of this, what begins before its launch (E1.4) */
    size_t meeting, apart; /* collectives in which all wait for all; without an instant (E5.1) */
};

/* An edge, and the node that it leads to. */
struct sim_use {
    uint32_t edge, node;
};

/* Makes the graph of the chosen ranks of a trace, of what a sample has of it: NULL, all. It is
** kept. `works` are by member, and their waits are found. */
bool sim_graph_make(struct sim_graph *graph, const struct trace *trace,
                    const struct sim_sample *sample, const struct sim_work *works,
                    const struct stopper *stopper, struct failure *failure);

/* The edge of a kind that leads to a node; SIM_NONE. */
uint32_t sim_edge_to(const struct sim_graph *graph, uint32_t node, enum sim_edge kind);

/* The edge of kind EDGE_COPY of a copy, and the end of its call, to which it leads; the edge is
** SIM_NONE if there is none. */
struct sim_use sim_copy_use(const struct sim_graph *graph, size_t member, uint32_t copy);

/* The row of the collective of an edge of kind EDGE_TRANSFER or EDGE_WAIT, on the rank where it
** leads. */
uint32_t sim_transfer_row(const struct sim_graph *graph, uint32_t edge);

/* The lag of an edge that leads to a node: ns, 0 to SIM_LONGEST; of EDGE_MEETING and EDGE_GHOST
** 0. */
int64_t sim_lag(const struct sim_graph *graph, uint32_t node, uint32_t edge);

void sim_graph_clear(struct sim_graph *graph);

#endif
