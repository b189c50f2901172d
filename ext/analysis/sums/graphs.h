/*
** Replays of graphs, and the names of the work in them (A14, A15).
**
** A replay is the device work of one call whose name contains `GraphLaunch`. What launched the work
** when the graph was captured is not in it: so the label of its launch says little.
*/
#ifndef TRACEDIFF_GRAPHS_H
#define TRACEDIFF_GRAPHS_H

#include "captures.h"
#include "analysis/names/labels.h"

#define GRAPH_PREFIX "graph: " /* before the name of a kernel (A14.1) */

struct replay {
    uint32_t launch;     /* row */
    size_t first, count; /* of replays.rows */
};

struct replays {
    struct replay *items; /* by start of the launch, then order of the file; owned */
    size_t count;
    uint32_t *rows; /* the device work of each in its order (A14.2); owned */
    size_t row_count;
};

/* Whether a call launches a graph. */
bool is_graph_launch(const struct name *name);

/* Finds the replays of a file. `nodes` are the `graph node id` of rows, or NUMBER_NONE; NULL:
** none. */
bool replays_list(struct replays *replays, const struct trace_file *file, const int64_t *nodes,
                  const struct stopper *stopper, struct failure *failure);

void replays_clear(struct replays *replays);

/* The names of device work that are not the label of its launch. */
struct graph_names {
    struct names texts;
    /* By row: id in `texts`, NAME_NONE: no name, or GRAPH_LABEL: the label of its launch; NULL:
    ** all. */
    uint32_t *of[LABEL_LEVELS];
};

#define GRAPH_LABEL (NAME_NONE - 1)

static inline uint32_t graph_name(const struct graph_names *names, int level, uint32_t row)
{
    return names->of[level] ? names->of[level][row] : GRAPH_LABEL;
}

/* What is known of the graphs of a trace besides its events; zeroed: nothing. */
struct graph_knowledge {
    const struct captures *captures; /* NULL: none was given */
    int64_t *const *nodes;           /* by member, as in replays_list(); NULL: not read */
};

/* A file with what is known of its graphs. */
struct graph_member {
    const struct trace_member *member;
    const struct captures *captures; /* NULL: none */
    const int64_t *nodes;            /* by row; NULL: none */
};

static inline struct graph_member graph_member_of(const struct trace *trace, size_t i,
                                                  const struct graph_knowledge *knowledge)
{
    return (struct graph_member){&trace->members[i], knowledge->captures,
                                 knowledge->nodes ? knowledge->nodes[i] : NULL};
}

/* Makes the names of a file's work. `labels` has those of the threads of graph launches, at least
** of the wanted `levels`, which have one bit each. */
bool graph_names_make(struct graph_names *names, const struct graph_member *of,
                      struct labels *labels, unsigned levels, const struct stopper *stopper,
                      struct failure *failure);

void graph_names_clear(struct graph_names *names);

#endif
