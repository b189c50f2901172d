/*
** Where a path continues from a piece of work or a call (P4 to P8).
*/
#ifndef TRACEDIFF_PATH_CAUSE_H
#define TRACEDIFF_PATH_CAUSE_H

#include "path_graph.h"

/* the last thing that device work waited for */
struct path_cause {
    size_t work;    /* WORK_NONE: the path continues in a thread */
    uint32_t track; /* that thread, or TRACK_NONE */
    int64_t at;     /* ns: when the path continues there */
    /* A launch that the work also waited for, but not last: its thread and time in ns (P4.3). */
    uint32_t launcher; /* TRACK_NONE: there is none */
    int64_t came;
};

/* Finds where the path continues from device work (P4, P5). `track`: thread of the host's step. */
struct path_cause path_cause(const struct path_graph *graph, const struct path_work *work,
                             uint32_t track);

/* Returns the work that a call with `Synchronize` in its name waits for (P7.1). */
struct path_source path_source_of(const struct path_graph *graph, uint32_t call);

/* Returns whether a copy reads or writes pageable memory. */
bool path_is_pageable(const struct trace_file *file, uint32_t copy);

/* Finds the copy that a call waited for, up to an instant in it (P7.1, P7.3), or WORK_NONE. */
size_t path_copy_of(const struct path_graph *graph, uint32_t call, int64_t upto);

/* Finds the thread that was last at work before `at`, and until when (P8). False if that time is
** not later than `after`. */
bool path_handed_over(const struct path_graph *graph, int64_t at, int64_t after, uint32_t *track,
                      int64_t *until);

/* Returns the kind of a part in a call (P7.1 to P7.4). `waited`: it waited for device work. */
enum path_kind path_kind_of_call(const struct path_graph *graph, uint32_t call, bool waited);

#endif
