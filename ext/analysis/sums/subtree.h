/*
** Events and all that is below them: the host events nested in them (T5), and the device work that
** these launched (T10), with the number, time and span of that work for every event.
*/
#ifndef TRACEDIFF_SUBTREE_H
#define TRACEDIFF_SUBTREE_H

#include "file/file.h"
#include "base/wide.h"

#define NODE_NONE UINT32_MAX

struct subtree_node {
    uint32_t row;
    uint32_t parent;     /* index of the node above it; NODE_NONE: it is a root */
    uint32_t depth;      /* 0: a root */
    uint32_t kernels;    /* device work that is the event or below it, and counts (row_counts) */
    wide_time time;      /* ns, of that work */
    int64_t first, last; /* ns, its first start and its last end; NUMBER_NONE: none */
};

struct subtree {
    struct subtree_node *nodes; /* a node before those below it; owned */
    size_t count;
};

/* Lists the trees of these events, by position in traceEvents, ascending; NULL: of every event that
** is in no other one's. A root that is below another root is listed only there; events that the
** file lacks are left out. To be cleared on failure, too. */
bool subtree_list(struct subtree *tree, struct trace_file *file, const int64_t *roots,
                  size_t root_count, const struct stopper *stopper, struct failure *failure);

/* The row of an event that may be a root; ROW_NONE: there is none. */
uint32_t subtree_root(const struct trace_file *file, int64_t event);

void subtree_clear(struct subtree *tree);

#endif
