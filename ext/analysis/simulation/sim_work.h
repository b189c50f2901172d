/*
** The dependencies of a file's device work (E3, E6).
*/
#ifndef TRACEDIFF_SIM_WORK_H
#define TRACEDIFF_SIM_WORK_H

#include "analysis/path/path_graph.h"
#include "sim_sites.h"

#define SIM_NO_WORK UINT32_MAX

/* A wait of device work for work on another stream, as indices. */
struct sim_wait {
    uint32_t work, on;
};

/* A wait without a sync event. */
struct sim_untold {
    struct sim_site site;
    uint32_t work; /* the waiting work */
    size_t last;   /* index in `launched` of the last candidate */
    size_t first;  /* index in `launched` of the first work of its track */
};

/* Device work, sorted by track, then by launch. */
struct sim_launched {
    int64_t launched, start; /* ns */
    int64_t ended; /* ns: end of all work of the track up to this */
    uint32_t track, work;
};

struct sim_work {
    const struct trace_member *member;
    struct path_graph path;
    uint32_t *before; /* by work: the previous work on its stream (P4.1), or SIM_NO_WORK */
    int64_t latency, gap;          /* ns: floors of launches and gaps (E3) */
    struct sim_launched *launched; /* all device work */
    size_t *firsts;                /* by track: its first in `launched`; one more entry */
    size_t track_count;            /* number of tracks with work */
    struct sim_untold *untold;
    size_t untold_count, untold_capacity;
    struct sim_wait *waits; /* by waiting work, then by awaited work; unique */
    size_t wait_count, wait_capacity;
    const struct stopper *stopper;
    struct failure *failure;
};

/* Finds everything but the waits, and adds the sites of waits without sync events. The caller must
** clear `work` on failure, too. */
bool sim_work_make(struct sim_work *work, const struct trace_member *member,
                   const struct path_syncs *syncs, struct sim_sites *sites,
                   const struct stopper *stopper, struct failure *failure);

/* Finds the waits; call sim_sites_finish() before. */
bool sim_work_find_waits(struct sim_work *work, const struct sim_sites *sites);

/* Returns the ith track's last work launched before a limit, or SIM_NO_WORK. */
uint32_t sim_work_last(const struct sim_work *work, size_t i, int64_t limit);

/* True if the ith track's work belongs to a source, whenever it was launched. */
bool sim_work_is_of(const struct sim_work *work, size_t i, const struct path_source *source);

/* Returns the index of the first wait of device work; `*count` is their number. */
size_t sim_work_waits(const struct sim_work *work, size_t of, size_t *count);

/* Accepts a zeroed struct. */
void sim_work_clear(struct sim_work *work);

#endif
