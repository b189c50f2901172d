/*
** Trees of events: host events with the events nested in them (T5) and the device work that these
** launched (T10), and the number, time and span of that work for every event.
*/
#ifndef TRACEDIFF_SUBTREE_H
#define TRACEDIFF_SUBTREE_H

#include "file/file.h"
#include "base/wide.h"

#define NODE_NONE UINT32_MAX

struct subtree_node {
    uint32_t row;
    uint32_t parent;     /* index of its parent; NODE_NONE: a root */
    uint32_t depth;      /* 0: a root */
    uint32_t kernels;    /* device work at or below this event that counts (row_counts) */
    wide_time time;      /* ns, of that work */
    int64_t first, last; /* ns: first start and last end of that work; NUMBER_NONE: none */
};

struct subtree {
    struct subtree_node *nodes; /* parents come before children; owned */
    size_t count;
};

/* Lists the trees of some events, given by ascending position in traceEvents, or of all events
** without a parent if `roots` is NULL. A root below another root is listed only there. Positions
** that the file lacks are skipped. On failure, the caller still clears the tree. */
bool subtree_list(struct subtree *tree, struct trace_file *file, const int64_t *roots,
                  size_t root_count, const struct stopper *stopper, struct failure *failure);

/* Returns the row of an event that may be a root, or ROW_NONE. */
uint32_t subtree_root(const struct trace_file *file, int64_t event);

void subtree_clear(struct subtree *tree);

#endif
