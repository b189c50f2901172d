/*
** What a path goes on in: P4 to P8.
*/
#ifndef TRACEDIFF_PATH_CAUSE_H
#define TRACEDIFF_PATH_CAUSE_H

#include "path_graph.h"

/* What device work waited for last. */
struct path_cause {
    size_t work;    /* WORK_NONE: the path goes on in a thread */
    uint32_t track; /* that thread; TRACK_NONE */
    int64_t at;     /* when the path goes on there */
    /* A launch that it waited for, too, but not last: its thread, and when it came (P4.3). */
    uint32_t launcher; /* TRACK_NONE */
    int64_t came;
};

/* P4 and P5. `track` is the thread of the host's step. */
struct path_cause path_cause(const struct path_graph *graph, const struct path_work *work,
                             uint32_t track);

/* P7.1: the work that a call with `Synchronize` in its name waits for. */
struct path_source path_source_of(const struct path_graph *graph, uint32_t call);

/* Whether a copy is to or from pageable memory. */
bool path_is_pageable(const struct trace_file *file, uint32_t copy);

/* P7.1, P7.3: the copy that a call waited for, upto an instant in it; WORK_NONE. */
size_t path_copy_of(const struct path_graph *graph, uint32_t call, int64_t upto);

/* P8: finds the thread that was at work last before an instant, and until when. False if that was
** not after another instant. */
bool path_handed_over(const struct path_graph *graph, int64_t at, int64_t after, uint32_t *track,
                      int64_t *until);

/* P7.1 to P7.4: the kind of a part in a call. `waited`: for device work. */
enum path_kind path_kind_of_call(const struct path_graph *graph, uint32_t call, bool waited);

#endif
