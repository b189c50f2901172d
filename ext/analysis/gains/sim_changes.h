/*
** Changes of lags, and what they select (E8).
*/
#ifndef TRACEDIFF_SIM_CHANGES_H
#define TRACEDIFF_SIM_CHANGES_H

#include "sim_parts.h"

#define SIM_GONE (-SIM_LONGEST) /* as a change: the dependency does not hold any longer */

enum sim_how { CHANGE_FACTOR, CHANGE_SET, CHANGE_ADD, CHANGE_REMOVE };

struct sim_change {
    enum sim_what what;
    enum sim_how how;
    double amount;              /* the factor, or us */
    int64_t rank, step;         /* NUMBER_NONE: all */
    enum step_class step_class; /* CLASS_NONE: all */
    /* By level, at LEVEL_KERNEL the own name: a pattern, or NULL for all. */
    char *label[LEVEL_COUNT];
    /* Whether a name, which ends with a 0, is like a pattern. */
    bool (*like)(const char *pattern, const char *name);
};

/* Makes a change: adds to how much longer the lags of edges are, by edge. `*selected` is the number
** of lags that were. */
bool sim_change_make(const struct sim_parts *parts, const struct sim_change *change,
                     int64_t *longer, size_t *selected, const struct stopper *stopper,
                     struct failure *failure);

/* Takes how much longer the lag of an edge is. */
typedef bool sim_take_shift(void *argument, const struct sim_shift *shift);

/* Removes the lag of an edge with all that goes with it: of device work, its gap and its dependency
** on its launch; of a collective, its wait for other ranks; of a call, its wait for device work.
** `take` gets the shifts, of which the first is that of the edge; it may end that by returning
** false. */
bool sim_remove(const struct sim_graph *graph, const struct sim_use *use, sim_take_shift *take,
                void *argument);

/* A time (ns) times a factor of 0 or more, to the nearest, halves up; SIM_LONGEST at the most. */
int64_t sim_times(int64_t time, double factor);

#endif
