/*
** The graphs that two traces replay, in pairs (A16).
*/
#ifndef TRACEDIFF_GRAPH_SIDES_H
#define TRACEDIFF_GRAPH_SIDES_H

#include "base/wide.h"
#include "graphs.h"

/* all replays of one sequence of stable names */
struct graph_group {
    size_t first, count; /* range in graph_side.names and .times */
    int64_t replays;
    wide_time total;  /* ns, over all replays */
    int64_t launched; /* ns: launch of the first replay */
    size_t member;    /* member and launch row of the first replay */
    uint32_t launch;
};

struct graph_side {
    uint32_t *names;  /* ids in graph_sides.names, or NAME_NONE; owned */
    wide_time *times; /* ns, over all replays; owned */
    size_t used, name_capacity, time_capacity;
    struct graph_group *groups; /* owned */
    size_t count, capacity;
    struct table table; /* finds groups */
};

/* A zeroed struct is empty. */
struct graph_sides {
    struct names names;
    struct graph_side sides[2];
};

/* a group from each side, or from one side only */
struct graph_pair {
    const struct graph_group *group[2]; /* NULL: none */
};

/* Adds the replays of a file that were launched in chosen steps (owners.h). */
bool graph_sides_add(struct graph_sides *sides, int side, const struct trace *trace, size_t member,
                     const unsigned char *chosen, const int64_t *nodes,
                     const struct stopper *stopper, struct failure *failure);

/* Pairs the groups, in the order of their total times. The caller owns `*pairs`. */
bool graph_sides_pair(const struct graph_sides *sides, struct graph_pair **pairs, size_t *count,
                      const struct stopper *stopper, struct failure *failure);

void graph_sides_clear(struct graph_sides *sides);

#endif
