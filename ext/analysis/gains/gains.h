/*
** Savings if parts of a trace took half as long, or no time (E8.6): per operator, collective, host
** gap, launch latency and rank.
*/
#ifndef TRACEDIFF_GAINS_H
#define TRACEDIFF_GAINS_H

#include "sim_parts.h"

struct gain {
    enum sim_what what;         /* SIM_WHATS: the gain of a rank */
    enum step_class step_class; /* CLASS_NONE for a rank */
    uint32_t name;              /* index in parts.names, or NAME_NONE */
    int64_t rank;               /* NUMBER_NONE: all ranks */
    bool depends;               /* some of its lags bind in the recording */
    wide_time time;             /* ns in the chosen steps */
    wide_time path;             /* ns on the path of the chosen steps */
    wide_time half, none;       /* ns saved if it takes half as long, or no time */
    size_t first, count;        /* private: its parts */
};

struct gains {
    struct gain *items; /* largest gain first; owned */
    size_t count, capacity;
    wide_time rest;  /* ns of the path that belong to no gain */
    wide_time total; /* ns of all chosen steps */
    size_t steps;    /* number of chosen steps */
};

struct gains_request {
    const struct sim_parts *parts;
    const struct sim_steps *steps;
    struct sim_net *net;
    enum label_level level; /* level of the names */
    const struct stopper *stopper;
};

bool gains_find(struct gains *gains, const struct gains_request *request, struct failure *failure);

/* Accepts a zeroed struct. */
void gains_clear(struct gains *gains);

#endif
