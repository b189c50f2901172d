/*
** What the path of a job asks of one rank: its windows, its collectives, and when these are exposed
** (Q2, Q5) or, on a host without device work, when its thread may wait for them (Q10).
*/
#ifndef TRACEDIFF_JOB_RANK_H
#define TRACEDIFF_JOB_RANK_H

#include "file/spans.h"
#include "base/wide.h"
#include "analysis/parts/step_windows.h"

/* ns. What ends that little earlier ends there (Q5); what ends that little later does so because
** times were rounded. */
enum { JOB_SLACK = 10000, JOB_ROUNDING = 1000 };

#define JOB_NONE UINT32_MAX

/* A collective (W1, Q10.1). Texts are ids in the names of the job. */
struct job_collective {
    int64_t start, end;    /* ns, by the clock of its rank */
    int64_t step;          /* its number; NUMBER_NONE: the rank has no steps */
    uint32_t group, ranks; /* its process group, and what its args say of its ranks, or NAME_NONE */
    uint32_t name;         /* its stable name */
    uint32_t seq;          /* W2 */
    uint32_t match;        /* index into the matches of the job, or JOB_NONE */
    uint32_t before;       /* the collective right before it on its stream (Q5.4), or JOB_NONE */
    bool followed;         /* it is right before another one */
    uint32_t row, member;
    bool outside; /* not to be matched: in no step, though the rank has steps; or Q10.2 */
    bool by_all;  /* its name says that all ranks wait for all (Q3.3) */
    bool on_host; /* Q10 */
};

struct job_window {
    struct window window;
    size_t member;
};

/* A part of class comm: time with one owner (A3.1) in one window; or a wait (Q10.3). */
struct job_part {
    int64_t start, end;
    uint32_t owner; /* collective; JOB_NONE: a wait */
    uint32_t chain;
};

/* By start. */
int job_part_order(const void *a, const void *b);

/* A longest stretch of parts without a gap. */
struct job_chain {
    int64_t start, end;
};

struct job_rank {
    size_t rank;                /* index into trace.ranks */
    int64_t replica;            /* T7.5: ranks of different ones have no collective in common */
    struct job_window *windows; /* by start, then number; owned, like the other lists */
    size_t window_count, window_capacity;
    struct span_line line; /* the window at each instant; of several, the one that starts last */
    struct job_collective *collectives; /* in the order of the members and their rows */
    size_t collective_count, collective_capacity;
    uint32_t *by_step;      /* collectives by step, process group and seq */
    uint32_t *by_end; /* those of the device, then of the host; by end, start, order of the file */
    size_t host_first;      /* in `by_end`: the first one of the host */
    struct job_part *parts; /* by time */
    size_t part_count, part_capacity;
    struct job_chain *chains; /* by time */
    size_t chain_count;
};

/* Makes what is known of a rank, by the device's clock or the host's; if the rank is `alone`, only
** its windows. `texts` gets the names. */
bool job_rank_make(struct job_rank *rank, const struct trace *trace, size_t index,
                   bool device_clock, bool alone, struct names *texts,
                   const struct stopper *stopper, struct failure *failure);

/* Its two parts that look at no trace, for a rank that was collected elsewhere (job_rows.h). The
** first one sorts the windows, and finds the window at each instant. The second one follows when
** all is there: collectives in their order, and parts. */
bool job_rank_line(struct job_rank *rank, const struct stopper *stopper, struct failure *failure);
bool job_rank_finish(struct job_rank *rank, const struct names *texts,
                     const struct stopper *stopper, struct failure *failure);

/* The window that holds the instant before `at`, or JOB_NONE; it has done so since `*from`. */
uint32_t job_rank_window(const struct job_rank *rank, int64_t at, int64_t *from);

/* The number of parts that start before `at`. */
size_t job_rank_parts(const struct job_rank *rank, int64_t at);

/* Q10.4: the collective that a thread of a host waits for at an instant of a wait: of those that
** started before it, the one whose end is nearest; JOB_NONE. `*steps` counts for the stopper. */
bool job_rank_awaited(const struct job_rank *rank, const struct job_part *wait, int64_t at,
                      size_t *steps, uint32_t *awaited, const struct stopper *stopper,
                      struct failure *failure);

/* Does nothing to a zeroed struct. */
void job_rank_clear(struct job_rank *rank);

#endif
