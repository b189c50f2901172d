/*
** The critical path of each step: P1 to P8.
*/
#ifndef TRACEDIFF_PATH_WALK_H
#define TRACEDIFF_PATH_WALK_H

#include "../trace/trace.h"
#include "attribute.h"
#include "path_graph.h"

enum path_kind { PATH_HOST, PATH_LAUNCH, PATH_QUEUE, PATH_KERNEL, PATH_SYNC, PATH_WAIT };

/* A part of a path. */
struct path_part {
    int64_t start, end; /* ns */
    uint32_t row;       /* the event it is named by; ROW_NONE */
    enum path_kind kind;
};

/* A step: some parts in the order of time. */
struct path_step {
    size_t member; /* index into the trace's members */
    int64_t rank;
    int64_t iteration; /* NUMBER_NONE: the file has no steps */
    size_t first, count;
};

struct critical_path {
    struct path_part *parts; /* owned, as `steps` */
    size_t part_count, part_capacity;
    struct path_step *steps; /* by rank, then iteration */
    size_t step_count, step_capacity;
};

/* Adds the chosen steps of a member of a trace. `syncs` are those of its file. */
bool critical_path_add(struct critical_path *path, const struct trace *trace, size_t member,
                       const struct step_choice *choice, enum step_clock clock,
                       const struct path_syncs *syncs, const struct stopper *stopper,
                       struct failure *failure);

/* Sorts the steps. */
bool critical_path_sort(struct critical_path *path, const struct stopper *stopper,
                        struct failure *failure);

/* Does nothing to a zeroed struct. */
void critical_path_clear(struct critical_path *path);

#endif
