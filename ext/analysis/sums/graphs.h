/*
** Replays of graphs, and the names of the work in them (A14, A15).
**
** A replay is the device work of one call whose name contains `GraphLaunch`. The call does not show
** which operators launched the work during the capture, so the label of the call says little.
*/
#ifndef TRACEDIFF_GRAPHS_H
#define TRACEDIFF_GRAPHS_H

#include "captures.h"
#include "analysis/names/labels.h"

#define GRAPH_PREFIX "graph: " /* prefix of a kernel's name (A14.1) */

struct replay {
    uint32_t launch;     /* row of the launch */
    size_t first, count; /* range in replays.rows */
};

struct replays {
    struct replay *items; /* by start of the launch, then order in the file; owned */
    size_t count;
    uint32_t *rows; /* device work of each replay, in the order of A14.2; owned */
    size_t row_count;
};

/* Returns whether a call launches a graph. */
bool is_graph_launch(const struct name *name);

/* Finds the replays of a file. `nodes` has the `graph node id` by row, or NUMBER_NONE; NULL:
** none. */
bool replays_list(struct replays *replays, const struct trace_file *file, const int64_t *nodes,
                  const struct stopper *stopper, struct failure *failure);

void replays_clear(struct replays *replays);

/* names of device work that replace the label of its launch */
struct graph_names {
    struct names texts;
    /* By row: an id in `texts`; NAME_NONE: no name; GRAPH_LABEL: the label of its launch. A NULL
    ** array means GRAPH_LABEL for all rows. */
    uint32_t *of[LABEL_LEVELS];
};

#define GRAPH_LABEL (NAME_NONE - 1)

static inline uint32_t graph_name(const struct graph_names *names, int level, uint32_t row)
{
    return names->of[level] ? names->of[level][row] : GRAPH_LABEL;
}

/* extra information about the graphs of a trace; may be zeroed */
struct graph_knowledge {
    const struct captures *captures; /* NULL: none given */
    int64_t *const *nodes;           /* by member, see replays_list(); NULL: not read */
};

/* a file with its graph information */
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

/* Makes the names of a file's work. `labels` must have labels for the threads with graph launches,
** at all wanted `levels` (one bit each). */
bool graph_names_make(struct graph_names *names, const struct graph_member *of,
                      struct labels *labels, unsigned levels, const struct stopper *stopper,
                      struct failure *failure);

void graph_names_clear(struct graph_names *names);

#endif
