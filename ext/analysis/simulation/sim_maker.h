/*
** Makes a graph: visits the points of all ranks in order, and adds the edges to each. The sources
** of these edges have nodes by then, unless the recorded times contradict them.
*/
#ifndef TRACEDIFF_SIM_MAKER_H
#define TRACEDIFF_SIM_MAKER_H

#include "sim_graph.h"
#include "sim_points.h"
#include "sim_threads.h"

enum {
    LEAST_SYNC = 3000,      /* ns: least time of a call that waits (E4.3) */
    LEAST_IDLE = 10000,     /* ns: own lag of a thread that waits for another (E7) */
    MOST_HANDOVER = 1000000 /* ns: longest time between the points of two such threads (E7.1) */
};

/* A member while its points are visited. */
struct sim_file {
    const struct trace_file *file;
    const struct sim_work *work;
    const struct job_rank *rank; /* NULL: not in the job (Q1.2) */
    uint32_t rank_number;        /* index into job.ranks */
    size_t first, end;           /* range of the member in the rank's collectives */
    const struct sim_share *share; /* NULL: all is simulated */
    size_t stay;                   /* current stretch of `share` */
    uint32_t first_node;           /* first node of that stretch */
    struct sim_threads threads;
    struct row_types types;
};

/* The ranks that have started a collective. */
struct sim_meeting {
    wide_time at;  /* last start by the reference's clock, ns */
    uint32_t node; /* SIM_NONE: no rank has started */
    bool valid;    /* the ranks wait for each other */
    bool over;     /* it ended on a rank */
};

struct sim_maker {
    struct sim_graph *graph;
    const struct sim_work *works;
    struct sim_file *files; /* by member */
    struct sim_meeting *meetings; /* by match */
    struct sim_points points;
    const struct stopper *stopper;
    struct failure *failure;
    size_t steps;

    /* The current point. */
    const struct sim_point *point;
    uint32_t member;
    struct sim_file *of;
    struct sim_rows *rows;
    uint32_t node;
    int64_t now; /* ns by its rank's clock */
};

/* Adds a node for a row of the current member, or for a meeting. sim_add_edge() adds the edges to
** it. */
uint32_t sim_begin_node(struct sim_maker *maker, int64_t at, uint32_t row);

/* Returns the node, or SIM_NONE if it is outside the current simulated stretch. */
static inline uint32_t sim_node_here(const struct sim_maker *maker, uint32_t node)
{
    return node != SIM_NONE && node >= maker->of->first_node ? node : SIM_NONE;
}

bool sim_reserve_edges(struct sim_maker *maker, size_t capacity);

/* Adds an edge to the last node. Drops it without an error if its slack is too long to matter. */
bool sim_add_edge(struct sim_maker *maker, uint32_t from, wide_time slack, enum sim_edge kind);

/* Adds an edge from a node of the same rank to the point, with a lag of at most `most` ns. */
bool sim_add_floor(struct sim_maker *maker, uint32_t from, wide_time most, enum sim_edge kind);

/* Returns the collective of the point's row (W1), or NULL. */
const struct job_collective *sim_collective(const struct sim_maker *maker);

/* Finds the collectives in which ranks wait for each other (E5). */
bool sim_find_meetings(struct sim_maker *maker);

/* Adds the point, the start of a collective on its rank, to the meeting. */
bool sim_join_meeting(struct sim_maker *maker, const struct job_collective *collective);

/* Adds the edge from a collective's meeting to the point. `*met` is false if it has none; then no
** edge is added. */
bool sim_leave_meeting(struct sim_maker *maker, const struct job_collective *collective,
                       enum sim_edge kind, bool *met);

/* Add the edges to the point: to the begin or end of device work (E3, E6), or to a point of a
** thread (E2, E4, E7). */
bool sim_begin_work(struct sim_maker *maker);
bool sim_end_work(struct sim_maker *maker);
bool sim_pass_host(struct sim_maker *maker);

/* Adds the edges to the end of a call that is in no other call (E4). `before` is the thread's
** previous point. */
bool sim_end_call(struct sim_maker *maker, uint32_t before);

#endif
