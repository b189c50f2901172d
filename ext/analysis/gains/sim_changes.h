/*
** Changes of lags and their selection (E8).
*/
#ifndef TRACEDIFF_SIM_CHANGES_H
#define TRACEDIFF_SIM_CHANGES_H

#include "sim_parts.h"

#define SIM_GONE (-SIM_LONGEST) /* value of `longer` that removes the dependency */

enum sim_how { CHANGE_FACTOR, CHANGE_SET, CHANGE_ADD, CHANGE_REMOVE };

struct sim_change {
    enum sim_what what;
    enum sim_how how;
    double amount;              /* the factor, or us */
    int64_t rank, step;         /* NUMBER_NONE: all */
    enum step_class step_class; /* CLASS_NONE: all */
    /* By level: a pattern, or NULL for all. LEVEL_KERNEL has the pattern for `name`. */
    char *label[LEVEL_COUNT];
    /* Matches a name, which ends with a 0, against a pattern. */
    bool (*like)(const char *pattern, const char *name);
};

/* Applies a change: adds ns to `longer`, by edge. `*selected` is the number of selected lags. */
bool sim_change_make(const struct sim_parts *parts, const struct sim_change *change,
                     int64_t *longer, size_t *selected, const struct stopper *stopper,
                     struct failure *failure);

/* Receives a shift. Returns false to stop. */
typedef bool sim_take_shift(void *argument, const struct sim_shift *shift);

/* E8.4: removes the lag of an edge and related dependencies. Device work also loses its gap and its
** launch, a collective its wait for other ranks, a call its wait for device work. `take` receives
** the shifts, the edge's own first. */
bool sim_remove(const struct sim_graph *graph, const struct sim_use *use, sim_take_shift *take,
                void *argument);

/* Returns a time (ns) times a factor >= 0, rounded to the ns, halves up; at most SIM_LONGEST. */
int64_t sim_times(int64_t time, double factor);

#endif
