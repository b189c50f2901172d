/*
** Waits of streams that no args tell of (E6): a site is the kth such wait of a step, on its thread,
** of a stream for another. Every step of a program waits there for the same work, so the step
** counts in which that is furthest back.
*/
#ifndef TRACEDIFF_SIM_SITES_H
#define TRACEDIFF_SIM_SITES_H

#include "base/sort.h"

struct sim_site {
    int64_t rank, stream, other; /* the streams that waits and that is waited for */
    uint32_t thread;             /* the ordinal among those of the file that wait */
    uint32_t number;             /* of the wait in its step, from 0 */
    uint64_t back;               /* so many launches before the last one */
};

/* Of a trace, or of both sides of a pair. A zeroed struct has none. */
struct sim_sites {
    struct sim_site *items;
    size_t count, capacity;
    bool sorted; /* each site is there once, with the largest `back` */
};

/* Adds what a step shows of a site. */
bool sim_sites_add(struct sim_sites *sites, const struct sim_site *site, struct failure *failure);

/* Joins what all steps show. */
bool sim_sites_finish(struct sim_sites *sites, const struct stopper *stopper,
                      struct failure *failure);

/* How far back a site is, which must have been added. */
uint64_t sim_sites_back(const struct sim_sites *sites, const struct sim_site *site);

void sim_sites_clear(struct sim_sites *sites);

#endif
