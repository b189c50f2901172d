/*
** Device work and host threads of a file, and the waits between them (P2, P4, P6 to P8). The
** critical path of a step is found in this graph.
*/
#ifndef TRACEDIFF_PATH_GRAPH_H
#define TRACEDIFF_PATH_GRAPH_H

#include "file/spans.h"
#include "analysis/names/labels.h"
#include "analysis/parts/step_windows.h"

#define WORK_NONE SIZE_MAX
#define SLACK_NONE INT64_MAX

enum path_kind { PATH_HOST, PATH_LAUNCH, PATH_QUEUE, PATH_KERNEL, PATH_SYNC, PATH_WAIT };

/* a part of a path */
struct path_part {
    int64_t start, end; /* ns */
    uint32_t row;       /* event that names the part, or ROW_NONE */
    enum path_kind kind;
};

/* work off the path (P9) */
struct path_off {
    struct path_part part;
    int64_t slack; /* ns; SLACK_NONE: the end of the step does not depend on it */
};

struct path_step {
    size_t member; /* index into the trace's members */
    int64_t rank;
    int64_t iteration;       /* step number; NUMBER_NONE: the file has no steps */
    struct path_part *parts; /* by time; owned */
    size_t count, capacity;
    struct path_off *off; /* by start, then end; owned; empty unless requested */
    size_t off_count, off_capacity;
};

/* device work that counts as busy time (A1) */
struct path_work {
    int64_t start, end; /* ns */
    int64_t launched;   /* ns: start of the launch; P6.3 if there is none */
    uint32_t row, track;
    uint32_t launch; /* row of the launch, or ROW_NONE */
};

/* args of a sync event (P6.1) */
struct path_sync {
    uint32_t row;
    int64_t stream; /* the stream that is waited for */
    int64_t record; /* correlation of the call that recorded the event, or NUMBER_NONE */
};

/* The sync events of a file. Whoever reads the args fills this in. */
struct path_syncs {
    struct path_sync *items; /* in file order */
    size_t count;
};

/* a set of work that something waits for */
struct path_source {
    enum path_among {
        AMONG_ALL,    /* work of all streams */
        AMONG_TRACK,  /* work of `track` */
        AMONG_STREAM, /* work of stream number `stream` in the process of `track` */
        AMONG_OTHERS  /* work in the process of `track`, except on `track` */
    } among;
    uint32_t track;
    int64_t stream;
    int64_t limit; /* ns: only work launched earlier */
};

/* one wait */
struct path_wait {
    uint32_t row; /* row of the waiting call; otherwise of the waiting work or its launch */
    bool host;    /* a host call waits */
    struct path_source source;
};

struct path_graph {
    const struct trace_file *file;
    struct path_work *work; /* by end, start, then order in the file */
    size_t work_count;
    uint32_t *by_track;  /* indices of work by track, then end */
    uint32_t *by_launch; /* indices of work that has a launch, by launch, then end */
    size_t launched_count;
    unsigned char *flags;    /* by name id: enum path_flag */
    bool *launches;          /* by row: it launched work */
    bool *threads;           /* by track: it is a host thread of P2 */
    struct labels labels;    /* labels of these threads, of level LEVEL_OP */
    struct span_line active; /* track of the thread at work (P8), or ROW_NONE */
    struct path_wait *waits; /* by host, row, then stream; no duplicates, one per call */
    size_t wait_count, wait_capacity;
};

enum path_flag { NAMED_SYNCHRONIZE = 1, NAMED_MEMCPY = 2, NAMED_WAIT = 4, NAMED_RECORD = 8 };

/* Returns the enum path_flag bits in the name of a call; 0 for other events. */
unsigned path_call_flags(const struct path_graph *graph, size_t row);

/* Returns whether the graph needs the args of a sync event, judged by the name of its call. */
bool path_sync_wanted(const struct trace_file *file, size_t row);

/* Returns whether work at `place` belongs to a source, whenever it was launched. */
bool path_place_is_of(const struct path_graph *graph, const struct path_source *source,
                      const struct place *place);

/* Builds the parts of a graph that need no labels: the work, its indices, and the waits. */
bool path_graph_make_work(struct path_graph *graph, const struct trace_file *file,
                          const struct path_syncs *syncs, const struct stopper *stopper,
                          struct failure *failure);

/* Builds the graph of a trace's member. `windows` are all windows of its file. */
bool path_graph_make(struct path_graph *graph, const struct trace_member *member,
                     const struct windows *windows, const struct path_syncs *syncs,
                     const struct stopper *stopper, struct failure *failure);

/* Finds the work that ends last among the targets of a row's waits, after `after` and no later than
** `upto`; WORK_NONE if none. */
size_t path_last_work(const struct path_graph *graph, const struct path_wait *waits, size_t count,
                      int64_t after, int64_t upto);

/* Returns the last work to end no later than an instant. */
size_t path_ended_work(const struct path_graph *graph, int64_t upto);

/* Returns the last work on the same stream, or of the same launch, to end before `of` starts. */
size_t path_work_before(const struct path_graph *graph, const struct path_work *of);

size_t path_work_of(const struct path_graph *graph, uint32_t row);

/* Returns the index of a row's first wait, and their number. */
size_t path_waits_of(const struct path_graph *graph, uint32_t row, bool host, size_t *count);

/* Returns whether a thread is at work (P2) in a stretch. */
bool path_at_work(const struct path_graph *graph, const struct label_stretch *stretch);

void path_graph_clear(struct path_graph *graph);

#endif
