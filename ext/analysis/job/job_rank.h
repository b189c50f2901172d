/*
** One rank of a job: its windows, its collectives, and when they are exposed (Q2, Q5) or, on a host
** without device work, when its thread may wait for them (Q10).
*/
#ifndef TRACEDIFF_JOB_RANK_H
#define TRACEDIFF_JOB_RANK_H

#include "file/spans.h"
#include "base/wide.h"
#include "analysis/parts/step_windows.h"

/* Tolerances in ns: an end up to JOB_SLACK earlier or JOB_ROUNDING later counts as the same
** (Q5). */
enum { JOB_SLACK = 10000, JOB_ROUNDING = 1000 };

#define JOB_NONE UINT32_MAX

/* a collective (W1, Q10.1); texts are ids in the job's names */
struct job_collective {
    int64_t start, end;    /* ns, by the clock of its rank */
    int64_t step;          /* step number; NUMBER_NONE: the rank has no steps */
    uint32_t group, ranks; /* process group, and the ranks in its args or NAME_NONE */
    uint32_t name;         /* stable name */
    uint32_t seq;          /* index within rank, step and group (W2) */
    uint32_t match;        /* index into the job's matches, or JOB_NONE */
    uint32_t before;       /* the one right before it on its stream (Q5.4), or JOB_NONE */
    bool followed;         /* another collective comes right after it */
    uint32_t row, member;
    bool outside; /* never matched: outside of the rank's steps, or by Q10.2 */
    bool by_all;  /* by its name, all ranks wait for all (Q3.3) */
    bool on_host; /* a host collective (Q10) */
};

struct job_window {
    struct window window;
    size_t member;
};

/* a part of class comm, with one owner (A3.1) in one window; or a wait (Q10.3) */
struct job_part {
    int64_t start, end;
    uint32_t owner; /* index of a collective; JOB_NONE: a wait */
    uint32_t chain;
};

/* Compares parts by start. */
int job_part_order(const void *a, const void *b);

/* a longest stretch of parts without gaps */
struct job_chain {
    int64_t start, end;
};

struct job_rank {
    size_t rank;                /* index into trace.ranks */
    int64_t replica;            /* ranks of different replicas share no collective (T7.5) */
    struct job_window *windows; /* by start, then number; all lists are owned */
    size_t window_count, window_capacity;
    struct span_line line; /* window at each instant; among several, the last to start */
    struct job_collective *collectives; /* by member, then row */
    size_t collective_count, collective_capacity;
    uint32_t *by_step;      /* collectives by step, process group and seq */
    uint32_t *by_end; /* device collectives, then host ones; by end, start, order in the file */
    size_t host_first;      /* index in `by_end` of the first host collective */
    struct job_part *parts; /* by time */
    size_t part_count, part_capacity;
    struct job_chain *chains; /* by time */
    size_t chain_count;
};

/* Collects a rank's windows, collectives and parts, by the device's or the host's clock. A rank
** that is `alone` gets only windows. Adds names to `texts`. */
bool job_rank_make(struct job_rank *rank, const struct trace *trace, size_t index,
                   bool device_clock, bool alone, struct names *texts,
                   const struct stopper *stopper, struct failure *failure);

/* The two phases of job_rank_make() that need no trace, for ranks collected elsewhere (job_rows.h).
** The first sorts the windows and finds the window at each instant. The second runs when
** collectives (in order) and parts are complete. */
bool job_rank_line(struct job_rank *rank, const struct stopper *stopper, struct failure *failure);
bool job_rank_finish(struct job_rank *rank, const struct names *texts,
                     const struct stopper *stopper, struct failure *failure);

/* Finds the window that holds the instant before `at`, or JOB_NONE. `*from` is when that answer
** begins to hold. */
uint32_t job_rank_window(const struct job_rank *rank, int64_t at, int64_t *from);

/* Returns the number of parts that start before `at`. */
size_t job_rank_parts(const struct job_rank *rank, int64_t at);

/* Finds the collective that a host thread waits for at an instant of a wait (Q10.4): among those
** started before, the one whose end is nearest. JOB_NONE if none. `*steps` counts for the
** stopper. */
bool job_rank_awaited(const struct job_rank *rank, const struct job_part *wait, int64_t at,
                      size_t *steps, uint32_t *awaited, const struct stopper *stopper,
                      struct failure *failure);

void job_rank_clear(struct job_rank *rank);

#endif
