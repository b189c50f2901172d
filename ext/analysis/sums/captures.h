/*
** Captures of graphs: the launches on a thread between the begin and the end of a capture, and
** which launch each piece of a replay's work came from (A15).
*/
#ifndef TRACEDIFF_CAPTURES_H
#define TRACEDIFF_CAPTURES_H

#include "trace/trace.h"
#include "analysis/names/labels.h"

struct replays;

struct captured_launch {
    uint32_t kernel; /* id in captures.names of the launched kernel; NAME_NONE: unknown */
    uint32_t label[LABEL_LEVELS]; /* ids in captures.names of stable names; NAME_NONE: none */
};

struct capture {
    int64_t rank, start; /* start: ns */
    uint32_t row;        /* row of its begin */
    size_t first, count; /* range in captures.launches */
    bool named;          /* the kernel of every launch is known */
};

struct captures {
    struct names names;
    struct captured_launch *launches; /* owned */
    struct capture *items;            /* owned */
    size_t launch_count, launch_capacity, count, capacity;
};

/* Sets kernels[row] to 0 for the calls whose args.kernel captures_add() needs. False if the file
** has no capture. */
bool captures_want(const struct trace_file *file, uint32_t *kernels);

/* Adds the captures of a file. `kernels` has, by row of a call, the id in captures->names of its
** args.kernel, or NAME_NONE. */
bool captures_add(struct captures *captures, const struct trace_member *member,
                  const uint32_t *kernels, const struct stopper *stopper, struct failure *failure);

void captures_clear(struct captures *captures);

/* captured launches of the work in replays */
struct capture_matches {
    bool *matched;    /* by replay */
    size_t *launches; /* by index in replays->rows: index in captures->launches; valid if matched */
};

bool captures_match(struct capture_matches *matches, const struct captures *captures,
                    const struct trace_member *member, const struct replays *replays,
                    const struct stopper *stopper, struct failure *failure);

void capture_matches_clear(struct capture_matches *matches);

#endif
