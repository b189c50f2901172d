/*
** The making of a graph: the points of all ranks are gone through in their order, and the edges to
** each are added. What a point waits for has a node by then, unless the recorded times contradict
** it.
*/
#ifndef TRACEDIFF_SIM_MAKER_H
#define TRACEDIFF_SIM_MAKER_H

#include "sim_graph.h"
#include "sim_points.h"
#include "sim_threads.h"

enum {
    LEAST_SYNC = 3000,      /* ns: a call that waits takes that long at the least (E4) */
    LEAST_IDLE = 10000,     /* ns: so does a thread that waits for another (E7) */
    MOST_HANDOVER = 1000000 /* ns: from when one thread goes quiet to when another goes on (E7) */
};

/* A member, while its points are gone through. */
struct sim_file {
    const struct trace_file *file;
    const struct sim_work *work;
    const struct job_rank *rank; /* NULL: not of the job (Q1.2) */
    uint32_t rank_number;        /* index into job.ranks */
    size_t first, end;           /* of the rank's collectives: those of the member */
    const struct sim_share *share; /* NULL: all is simulated */
    size_t stay;                   /* the stretch of it that is gone through */
    uint32_t first_node;           /* of that stretch */
    struct sim_threads threads;
    struct row_types types;
};

/* The ranks that have started a collective. */
struct sim_meeting {
    wide_time at;  /* when the last one has, by the clock of the reference */
    uint32_t node; /* SIM_NONE: none has */
    bool valid;    /* they wait for each other */
    bool over;     /* it has ended on a rank */
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

    /* The point that is gone through. */
    const struct sim_point *point;
    uint32_t member;
    struct sim_file *of;
    struct sim_rows *rows;
    uint32_t node;
    int64_t now; /* ns, by the clock of its rank */
};

/* Begins a node of a row of the current member, or of a meeting; the edges that are added next lead
** to it. */
uint32_t sim_begin_node(struct sim_maker *maker, int64_t at, uint32_t row);

/* A node of the current member, or SIM_NONE: if it has none, or that of another stretch of time
** that is simulated. */
static inline uint32_t sim_node_here(const struct sim_maker *maker, uint32_t node)
{
    return node != SIM_NONE && node >= maker->of->first_node ? node : SIM_NONE;
}

/* Makes room for edges. */
bool sim_reserve_edges(struct sim_maker *maker, size_t capacity);

/* Adds an edge to the last node. */
bool sim_add_edge(struct sim_maker *maker, uint32_t from, wide_time slack, enum sim_edge kind);

/* Adds an edge from a node of the same rank to the point; its lag is `most` at the most. */
bool sim_add_floor(struct sim_maker *maker, uint32_t from, wide_time most, enum sim_edge kind);

/* The collective of the point's row (W1); NULL. */
const struct job_collective *sim_collective(const struct sim_maker *maker);

/* Finds which collectives are meetings of ranks (E5). */
bool sim_find_meetings(struct sim_maker *maker);

/* Lets the rank of the point, which is the start of a collective, join the meeting. */
bool sim_join_meeting(struct sim_maker *maker, const struct job_collective *collective);

/* Adds the edge from the meeting of a collective to the point, if it is one. `end`: the collective
** ends there. */
bool sim_leave_meeting(struct sim_maker *maker, const struct job_collective *collective,
                       enum sim_edge kind, bool *met);

/* Add the edges to the point: the begin or the end of device work (E3, E6), or a point of a thread
** (E2, E4, E7). */
bool sim_begin_work(struct sim_maker *maker);
bool sim_end_work(struct sim_maker *maker);
bool sim_pass_host(struct sim_maker *maker);

/* The same for the end of a call, if its event is in no other call. `before` is the point before it
** on its thread. */
bool sim_end_call(struct sim_maker *maker, uint32_t before);

#endif
