/*
** The host threads of a file while their points are visited in order, with the thread that went
** quiet last (E7).
*/
#ifndef TRACEDIFF_SIM_THREADS_H
#define TRACEDIFF_SIM_THREADS_H

#include "analysis/job/job_rank.h"
#include "analysis/path/path_graph.h"

struct sim_thread {
    uint32_t last;          /* node of its last point; UINT32_MAX: none yet */
    uint32_t calls;         /* open calls */
    uint32_t before,
        after; /* neighbours in the list of quiet threads, by time: tracks, or TRACK_NONE */
    bool polls;             /* E7.2: never waits, because it only polls or only has annotations */
    bool quiet;             /* in the list of quiet threads */
};

struct sim_threads {
    struct sim_thread *items;  /* by track */
    size_t count;
    uint32_t latest;           /* track of the thread that went quiet last, or TRACK_NONE */
    uint32_t main;             /* track of the steps, or TRACK_NONE */
    const struct path_work **awaited; /* room for the awaited work of a call */
};

/* Makes the threads of the member with this index, of a rank. `streams` is the number of tracks
** with device work. */
bool sim_threads_make(struct sim_threads *threads, const struct trace_member *member, size_t index,
                      const struct job_rank *rank, size_t streams, const struct stopper *stopper,
                      struct failure *failure);

/* Records a node as a thread's last point; `quiet`: the thread is idle after it. */
void sim_threads_pass(struct sim_threads *threads, uint32_t track, uint32_t node, bool quiet);

/* Resets all threads to the state before their first points. */
void sim_threads_forget(struct sim_threads *threads);

/* Returns the last node of the thread that went quiet last, other than `but`; UINT32_MAX if none
** is. */
uint32_t sim_threads_quiet(const struct sim_threads *threads, const struct sim_thread *but);

/* Returns the last node of the step thread; UINT32_MAX without one, or if it is `but`. */
uint32_t sim_threads_main(const struct sim_threads *threads, const struct sim_thread *but);

/* Accepts a zeroed struct. */
void sim_threads_clear(struct sim_threads *threads);

#endif
