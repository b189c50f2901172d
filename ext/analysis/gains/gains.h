/*
** What it would bring if parts of a trace took half as long, or nothing (E8): by operator,
** collective, gap of the host, launch latency and rank.
*/
#ifndef TRACEDIFF_GAINS_H
#define TRACEDIFF_GAINS_H

#include "sim_parts.h"

struct gain {
    enum sim_what what;         /* SIM_WHATS: a rank */
    enum step_class step_class; /* CLASS_NONE: of a rank */
    uint32_t name;              /* in parts.names, or NAME_NONE */
    int64_t rank;               /* NUMBER_NONE: all */
    bool depends;               /* a step depends on some of it as recorded */
    wide_time time;             /* ns, in the chosen steps */
    wide_time path;             /* ns, of these steps: what is on their path */
    wide_time half, none;       /* ns that they are shorter if it takes half, or nothing */
    size_t first, count;        /* private: in the order of parts */
};

struct gains {
    struct gain *items; /* by gain; owned */
    size_t count, capacity;
    wide_time rest;  /* ns of the path that is none of these */
    wide_time total; /* ns of all chosen steps */
    size_t steps;    /* how many these are */
};

struct gains_request {
    const struct sim_parts *parts;
    const struct sim_steps *steps;
    struct sim_net *net;
    enum label_level level; /* of the names */
    const struct stopper *stopper;
};

bool gains_find(struct gains *gains, const struct gains_request *request, struct failure *failure);

/* Does nothing to a zeroed struct. */
void gains_clear(struct gains *gains);

#endif
