/*
** Lanes: the tracks of events during reading. Each lane becomes a track of the file (tracks.h) at
** the end, because a track's description may follow its events.
**
** 1. A described track belongs to its thread or process. Any other track is a thread in the process
**    of its nearest parent that has one. Its name, or else its number, replaces the tid.
** 2. A GPU queue is a thread, identified by its number or else its name. Its process is the number
**    of the GPU.
** 3. Counters of a GPU belong to a process `GPU N Counters`.
*/
#ifndef TRACEDIFF_LANES_H
#define TRACEDIFF_LANES_H

#include "file/file.h"
#include "packets.h"

enum lane_kind {
    LANE_TRACK,    /* `a`: number of the track */
    LANE_SEQUENCE, /* events without a track: `a`: sequence */
    LANE_QUEUE,    /* `a`: GPU, `b`: name id of the queue */
    LANE_COUNTERS  /* `a`: GPU */
};

struct lane {
    enum lane_kind kind;
    uint64_t a;
    uint32_t b;
    bool has_thread, has_process, is_counter;
    uint64_t parent; /* 0: none */
    int64_t pid, tid;
    int64_t stream;   /* number at the start of a queue's name, or NUMBER_NONE */
    uint32_t name;    /* id of a name in the file, or NAME_NONE */
    uint32_t process; /* the same, for the process */
    uint32_t slices;  /* of slices.h */
};

/* A zeroed struct is empty. */
struct lanes {
    struct lane *items;
    size_t count, capacity;
    struct table table;
};

/* Finds the index of a lane, and adds new lanes; false if out of memory. */
bool lanes_number(struct lanes *lanes, enum lane_kind kind, uint64_t a, uint32_t b,
                  uint32_t *index);

/* The number in `[0007] stream 7`, PyTorch's form for names of queues; NUMBER_NONE. */
int64_t lane_stream(const char *name, size_t length);

/* Replaces the lanes in the places of a file by tracks. */
bool lanes_resolve(const struct lanes *lanes, const struct packets *packets,
                   struct trace_file *file, struct failure *failure);

void lanes_clear(struct lanes *lanes);

#endif
