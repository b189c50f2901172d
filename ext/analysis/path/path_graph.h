/*
** The device work and the host threads of a file, in which the critical path of a step is found,
** and what waits for what (P2, P4, P6 to P8).
*/
#ifndef TRACEDIFF_PATH_GRAPH_H
#define TRACEDIFF_PATH_GRAPH_H

#include "file/spans.h"
#include "analysis/names/labels.h"
#include "analysis/parts/step_windows.h"

#define WORK_NONE SIZE_MAX
#define SLACK_NONE INT64_MAX

enum path_kind { PATH_HOST, PATH_LAUNCH, PATH_QUEUE, PATH_KERNEL, PATH_SYNC, PATH_WAIT };

/* A part of a path. */
struct path_part {
    int64_t start, end; /* ns */
    uint32_t row;       /* the event it is named by; ROW_NONE */
    enum path_kind kind;
};

/* Work off the path (P9). */
struct path_off {
    struct path_part part;
    int64_t slack; /* ns; SLACK_NONE: the end of the step does not depend on it */
};

struct path_step {
    size_t member; /* index into the trace's members */
    int64_t rank;
    int64_t iteration;       /* NUMBER_NONE: the file has no steps */
    struct path_part *parts; /* by time; owned */
    size_t count, capacity;
    struct path_off *off; /* if wanted: by start, then end; owned */
    size_t off_count, off_capacity;
};

/* Device work that takes part (A1). */
struct path_work {
    int64_t start, end; /* ns */
    int64_t launched;   /* ns: the start of its launch; without a launch, P6.3 */
    uint32_t row, track;
    uint32_t launch; /* row; ROW_NONE */
};

/* What the args of a sync event say (P6.1). */
struct path_sync {
    uint32_t row;
    int64_t stream; /* that is waited for */
    int64_t record; /* correlation of the call that recorded the event; NUMBER_NONE */
};

/* Those of a file; whoever reads the args makes them. */
struct path_syncs {
    struct path_sync *items; /* in the order of the file */
    size_t count;
};

/* The work that something waits for. */
struct path_source {
    enum path_among {
        AMONG_ALL,    /* of all streams */
        AMONG_TRACK,  /* of `track` */
        AMONG_STREAM, /* of the stream numbered `stream` of the process of `track` */
        AMONG_OTHERS  /* of the process of `track`, but not of `track` */
    } among;
    uint32_t track;
    int64_t stream;
    int64_t limit; /* ns: launched before this */
};

/* A wait. */
struct path_wait {
    uint32_t row; /* of the call that waits; else of the work that does, or of its launch */
    bool host;    /* a call waits */
    struct path_source source;
};

struct path_graph {
    const struct trace_file *file;
    struct path_work *work; /* by end, start, then order of the file */
    size_t work_count;
    uint32_t *by_track;  /* indices of work by track, then by end */
    uint32_t *by_launch; /* indices of work with a launch by that, then by end */
    size_t launched_count;
    unsigned char *flags;    /* by name id: enum path_flag */
    bool *launches;          /* by row: it launched work */
    bool *threads;           /* by track: the host threads (P2) */
    struct labels labels;    /* of these, level LEVEL_OP */
    struct span_line active; /* the thread at work, as a track (P8); ROW_NONE: none is */
    struct path_wait *waits; /* by host, row, then stream: each once; of a call one */
    size_t wait_count, wait_capacity;
};

enum path_flag { NAMED_SYNCHRONIZE = 1, NAMED_MEMCPY = 2, NAMED_WAIT = 4, NAMED_RECORD = 8 };

/* What the name of a call says, as bits of enum path_flag; 0 for another event. */
unsigned path_call_flags(const struct path_graph *graph, size_t row);

/* Whether what a sync event says is to be read from its args, by flags of its call's name. */
bool path_sync_wanted(const struct trace_file *file, size_t row);

/* Whether work is of a source, whenever it was launched; `place` is its own. */
bool path_place_is_of(const struct path_graph *graph, const struct path_source *source,
                      const struct place *place);

/* Makes what of a graph needs no labels: the work, its indices, and what waits for it. */
bool path_graph_make_work(struct path_graph *graph, const struct trace_file *file,
                          const struct path_syncs *syncs, const struct stopper *stopper,
                          struct failure *failure);

/* Makes the graph of a member of a trace. `windows` are all those of the file. */
bool path_graph_make(struct path_graph *graph, const struct trace_member *member,
                     const struct windows *windows, const struct path_syncs *syncs,
                     const struct stopper *stopper, struct failure *failure);

/* The work that some waits of a row are for and that ends last, after one instant but not after
** another; WORK_NONE. */
size_t path_last_work(const struct path_graph *graph, const struct path_wait *waits, size_t count,
                      int64_t after, int64_t upto);

/* The work that ends last of all that ends at an instant or before. */
size_t path_ended_work(const struct path_graph *graph, int64_t upto);

/* The work of the stream of other work, or of its launch, that ends last before that starts. */
size_t path_work_before(const struct path_graph *graph, const struct path_work *of);

/* The index of the work of a row. */
size_t path_work_of(const struct path_graph *graph, uint32_t row);

/* The waits of a row: the index of the first and the number of them. */
size_t path_waits_of(const struct path_graph *graph, uint32_t row, bool host, size_t *count);

/* Whether a thread is at work (P2) in a stretch. */
bool path_at_work(const struct path_graph *graph, const struct label_stretch *stretch);

void path_graph_clear(struct path_graph *graph);

#endif
