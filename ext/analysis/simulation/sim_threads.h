/*
** The host threads of a file, while their points are gone through in order: which of them went
** quiet last (E7).
*/
#ifndef TRACEDIFF_SIM_THREADS_H
#define TRACEDIFF_SIM_THREADS_H

#include "analysis/job/job_rank.h"
#include "analysis/path/path_graph.h"

struct sim_thread {
    uint32_t last;          /* node of the last point; UINT32_MAX: none yet */
    uint32_t calls;         /* that are open */
    uint32_t before,
        after; /* tracks of the threads that went quiet before and after it; TRACK_NONE */
    bool polls;             /* it only asks whether work is done, or has only annotations */
    bool quiet;             /* it is in the list of those that are quiet */
};

struct sim_threads {
    struct sim_thread *items;  /* by track */
    size_t count;
    uint32_t latest;           /* track of the one that went quiet last; TRACK_NONE */
    uint32_t main;             /* track of the steps; TRACK_NONE */
    const struct path_work **awaited; /* room for the work that a call waits for */
};

/* Of a member, whose index is given, and its rank. `streams`: how many tracks have device work. */
bool sim_threads_make(struct sim_threads *threads, const struct trace_member *member, size_t index,
                      const struct job_rank *rank, size_t streams, const struct stopper *stopper,
                      struct failure *failure);

/* Makes a node the last one of a thread, which is idle after it or not. */
void sim_threads_pass(struct sim_threads *threads, uint32_t track, uint32_t node, bool quiet);

/* Takes all threads to have no points yet. */
void sim_threads_forget(struct sim_threads *threads);

/* The last node of the thread that went quiet last, but not of this one, or UINT32_MAX. */
uint32_t sim_threads_quiet(const struct sim_threads *threads, const struct sim_thread *but);

/* The last node of the thread of the steps, unless it is this one; UINT32_MAX. */
uint32_t sim_threads_main(const struct sim_threads *threads, const struct sim_thread *but);

/* Does nothing to a zeroed struct. */
void sim_threads_clear(struct sim_threads *threads);

#endif
