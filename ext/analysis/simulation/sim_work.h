/*
** What the device work of a file waits for (E3, E6).
*/
#ifndef TRACEDIFF_SIM_WORK_H
#define TRACEDIFF_SIM_WORK_H

#include "analysis/path/path_graph.h"
#include "sim_sites.h"

#define SIM_NO_WORK UINT32_MAX

/* Work that waits for work of another stream: their indices. */
struct sim_wait {
    uint32_t work, on;
};

/* A wait that no args tell of. */
struct sim_untold {
    struct sim_site site;
    uint32_t work; /* that waits */
    size_t last;   /* index in `launched` of the last one that may be waited for */
    size_t first;  /* the same of the first work of its track */
};

/* Work by track, then by launch. */
struct sim_launched {
    int64_t launched, start; /* ns */
    int64_t ended; /* ns: when all work of the track up to this had ended */
    uint32_t track, work;
};

struct sim_work {
    const struct trace_member *member;
    struct path_graph path;
    uint32_t *before; /* by work: the work before it on its stream (P4.1), or SIM_NO_WORK */
    int64_t latency, gap;          /* ns: floors (E3) */
    struct sim_launched *launched; /* all work */
    size_t *firsts;                /* where the tracks begin in it, and its end */
    size_t track_count;            /* tracks with work */
    struct sim_untold *untold;
    size_t untold_count, untold_capacity;
    struct sim_wait *waits; /* by work, then by what it waits for; each once */
    size_t wait_count, wait_capacity;
    const struct stopper *stopper;
    struct failure *failure;
};

/* Finds all but the waits, and adds the sites of those that are untold. On failure it is to be
** cleared. */
bool sim_work_make(struct sim_work *work, const struct trace_member *member,
                   const struct path_syncs *syncs, struct sim_sites *sites,
                   const struct stopper *stopper, struct failure *failure);

/* Finds the waits; `sites` are finished. */
bool sim_work_find_waits(struct sim_work *work, const struct sim_sites *sites);

/* The work of the ith track that was launched last, before a limit; SIM_NO_WORK. */
uint32_t sim_work_last(const struct sim_work *work, size_t i, int64_t limit);

/* Whether the work of the ith track is of a source, whenever it was launched. */
bool sim_work_is_of(const struct sim_work *work, size_t i, const struct path_source *source);

/* The waits of work: the index of the first, and their number. */
size_t sim_work_waits(const struct sim_work *work, size_t of, size_t *count);

/* Does nothing to a zeroed struct. */
void sim_work_clear(struct sim_work *work);

#endif
