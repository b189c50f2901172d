/*
** The args of graphs: the order of the work in a replay, and captures (A14, A15).
*/
#ifndef TRACEDIFF_GRAPH_ARGS_H
#define TRACEDIFF_GRAPH_ARGS_H

#include "analysis/sums/graphs.h"
#include "call_trace.h"

struct graph_args {
    struct captures captures;
    bool captured; /* a capture was given */
    /* By member, then row: `graph node id`, or NUMBER_NONE; NULL: no row has one. */
    int64_t **nodes;
    size_t count;
};

/* Reads the captures of the call's argument, if it is given, and in this case, or if `wanted`, the
** node ids of a trace. On failure, fills call->failure. Close them in this case, too. */
bool graph_args_read(struct call *call, const struct trace *trace, bool wanted,
                     struct graph_args *args);

/* Returns a view that is valid as long as `args`. */
struct graph_knowledge graph_args_knowledge(const struct graph_args *args);

/* Does nothing to a zeroed struct. */
void graph_args_close(struct graph_args *args);

/* Description of an argument. */
#define CAPTURE_TEXT \
    "a trace of the capture of the graphs that are replayed, to name their kernels; default none"

#endif
