/*
** Waits between streams without sync events (E6.2, E6.3). A site is the kth such wait of a step, on
** its thread, for its two streams. Every step of a program waits there for the same work, so the
** step that looks back furthest decides for all.
*/
#ifndef TRACEDIFF_SIM_SITES_H
#define TRACEDIFF_SIM_SITES_H

#include "base/sort.h"

struct sim_site {
    int64_t rank, stream, other; /* the waiting and the awaited stream */
    uint32_t thread;             /* 0-based index among the file's waiting threads */
    uint32_t number;             /* 0-based index of the wait in its step */
    uint64_t back;               /* number of launches before the last one */
};

/* The sites of a trace, or of both sides of a pair. A zeroed struct is empty. */
struct sim_sites {
    struct sim_site *items;
    size_t count, capacity;
    bool sorted; /* each site is present once, with its largest `back` */
};

/* Adds one step's observation of a site. */
bool sim_sites_add(struct sim_sites *sites, const struct sim_site *site, struct failure *failure);

/* Combines the observations of all steps. */
bool sim_sites_finish(struct sim_sites *sites, const struct stopper *stopper,
                      struct failure *failure);

/* Returns `back` of a site, which must be present; call sim_sites_finish() before. */
uint64_t sim_sites_back(const struct sim_sites *sites, const struct sim_site *site);

void sim_sites_clear(struct sim_sites *sites);

#endif
