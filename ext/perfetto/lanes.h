/*
** Lanes: what the events of a trace are on. Each is a track of the file (tracks.h) in the end, but
** which one may be said after its events.
**
** 1. A track that packets describe is that of its thread, or of its process. Any other is a
**    thread of the process of the nearest of its parents that has one; its name, else its number,
**    is in place of a tid.
** 2. A queue of a GPU is the thread of its number, or else of its name, of a process that is the
**    number of the GPU.
** 3. Counters of a GPU are of a process `GPU N Counters`.
*/
#ifndef TRACEDIFF_LANES_H
#define TRACEDIFF_LANES_H

#include "file/file.h"
#include "packets.h"

enum lane_kind {
    LANE_TRACK,    /* `a` is the number of the track */
    LANE_SEQUENCE, /* events that name no track: `a` is the sequence */
    LANE_QUEUE,    /* `a` is the GPU, `b` the id of the name of its queue */
    LANE_COUNTERS  /* `a` is the GPU */
};

struct lane {
    enum lane_kind kind;
    uint64_t a;
    uint32_t b;
    bool has_thread, has_process, is_counter;
    uint64_t parent; /* 0: none */
    int64_t pid, tid;
    int64_t stream;   /* the number that the name of a queue begins with; NUMBER_NONE */
    uint32_t name;    /* id of a name of the file; NAME_NONE */
    uint32_t process; /* the same: the name of the process */
    uint32_t slices;  /* slices.h */
};

/* A zeroed struct has none. */
struct lanes {
    struct lane *items;
    size_t count, capacity;
    struct table table;
};

/* The index of a lane, which is added if it is new; false if out of memory. */
bool lanes_number(struct lanes *lanes, enum lane_kind kind, uint64_t a, uint32_t b,
                  uint32_t *index);

/* The number in `[0007] stream 7`, as PyTorch writes the names of queues; NUMBER_NONE. */
int64_t lane_stream(const char *name, size_t length);

/* Replaces the lanes in the places of a file by its tracks. */
bool lanes_resolve(const struct lanes *lanes, const struct packets *packets,
                   struct trace_file *file, struct failure *failure);

void lanes_clear(struct lanes *lanes);

#endif
