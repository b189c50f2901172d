/*
** The dependencies in a trace (E1 to E7): a node for the begin and the end of each host event and
** each piece of device work, over all steps of the chosen ranks. It is a model: anything that the
** recording does not show stays unchanged (E10).
**
** The time of a node is the latest, over its edges, of another node's time plus a lag. The slack of
** an edge says how much earlier than the node this was in the recording. Each node with edges has
** one with slack 0, so the recorded lags reproduce the recorded times.
*/
#ifndef TRACEDIFF_SIM_GRAPH_H
#define TRACEDIFF_SIM_GRAPH_H

#include "analysis/job/sim_clocks.h"
#include "sim_sample.h"
#include "sim_work.h"

#define SIM_NONE UINT32_MAX
#define SIM_LONGEST ((int64_t)1 << 61) /* ns: lags and usable slacks are shorter */

#define SIM_LONG_LAUNCH 100000 /* ns: work may wait for longer launches (E3.6, E9.1) */

/* The kinds of edges. */
enum sim_edge {
    EDGE_HOST,     /* time of a thread before a point (E2) */
    EDGE_DEVICE,   /* duration of device work (E3.5) */
    EDGE_TRANSFER, /* from a collective's last start to its end on a rank (E5) */
    EDGE_LAUNCH,   /* from a launch to its work (E3) */
    EDGE_STREAM,   /* from work to the next on its stream, or on a waiting stream (E3, E6) */
    EDGE_SYNC,   /* from work to the end of a call that waits for it (E4) */
    /* From the begin of a copy to the end of its call, which returns before the copy ends (E4.3).
    ** The lag is part of the copy's duration. */
    EDGE_COPY,
    EDGE_THREAD, /* from one thread to another (E7) */
    /* From the last start of a host collective to the next point of a thread that waits for it
    ** (E7.4). The lag is the transfer, too. */
    EDGE_WAIT,
    /* From a rank's start of a collective to the meeting of the ranks so far, or to its own end. */
    EDGE_MEETING,
    EDGE_GHOST /* edge of a ghost (E9.3) */
};

/* The nodes of a member, by row; SIM_NONE for rows outside the graph. */
struct sim_rows {
    uint32_t *begins, *ends;
};

/* The lag of an edge from a meeting, which may belong to another rank. */
struct sim_far {
    uint32_t edge, row; /* row of the collective on the rank of the edge's target */
    int64_t lag;        /* ns */
};

struct sim_graph {
    const struct trace *trace;
    const struct sim_sample *sample; /* simulated sample; NULL: all steps */
    struct job job;        /* the ranks of the trace as a job */
    struct sim_clocks clocks; /* clocks of the job's ranks */
    struct sim_rows *rows; /* by member */
    size_t nodes;          /* in topological order */
    int64_t *at; /* by node: ns by its rank's clock; for a meeting, by the reference's clock */
    uint32_t *row, *member; /* by node; SIM_NONE for a meeting */
    uint32_t *first;        /* by node: its first edge, with one more entry */
    uint32_t *from;        /* by edge: its source node */
    int64_t *slack;        /* by edge: ns, >= 0 */
    unsigned char *kind;   /* by edge: enum sim_edge */
    size_t edges, capacity;
    struct sim_far *far; /* ascending by edge */
    size_t far_count, far_capacity;
    size_t dropped; /* dependencies that contradict the recorded times (E1.4) */
    size_t works, early;  /* device work; part of it that begins before its launch (E1.4) */
    size_t meeting, apart; /* collectives where all wait for all; those apart (E5.1) */
};

/* An edge and its target node. */
struct sim_use {
    uint32_t edge, node;
};

/* Makes the graph of the chosen ranks of a trace, limited to a sample (NULL: all steps), which must
** outlive the graph. `works` has device work by member, with its waits. */
bool sim_graph_make(struct sim_graph *graph, const struct trace *trace,
                    const struct sim_sample *sample, const struct sim_work *works,
                    const struct stopper *stopper, struct failure *failure);

/* Returns the edge of a kind to a node, or SIM_NONE. */
uint32_t sim_edge_to(const struct sim_graph *graph, uint32_t node, enum sim_edge kind);

/* Returns the EDGE_COPY of a copy, and the end of its call; the edge is SIM_NONE if there is
** none. */
struct sim_use sim_copy_use(const struct sim_graph *graph, size_t member, uint32_t copy);

/* Returns the row of the collective of an EDGE_TRANSFER or EDGE_WAIT, on the rank of its target. */
uint32_t sim_transfer_row(const struct sim_graph *graph, uint32_t edge);

/* Returns the lag of an edge to a node: ns, 0 to SIM_LONGEST. EDGE_MEETING and EDGE_GHOST have
** 0. */
int64_t sim_lag(const struct sim_graph *graph, uint32_t node, uint32_t edge);

void sim_graph_clear(struct sim_graph *graph);

#endif
