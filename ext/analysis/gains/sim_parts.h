/*
** The lags that a change can select (E8): device work, host time, transfers and launches. Lags with
** equal names are one part.
*/
#ifndef TRACEDIFF_SIM_PARTS_H
#define TRACEDIFF_SIM_PARTS_H

#include "analysis/parts/part_names.h"
#include "analysis/simulation/sim_net.h"

enum sim_what { SIM_DEVICE, SIM_HOST, SIM_TRANSFER, SIM_LAUNCH, SIM_WHATS };

/* Returns the name shown to users. */
const char *sim_what_name(enum sim_what what);

struct sim_part {
    enum sim_what what;
    /* Launches have the class of their work, host time has CLASS_CALL, CLASS_HOST, CLASS_COMPILE or
    ** CLASS_UNRECORDED. The names are labels (A11) by level. LEVEL_KERNEL has the own name of
    ** device work, calls and gaps (A5.4); for other host time it repeats LEVEL_OP. */
    struct attributed names;
};

struct sim_parts {
    const struct sim_graph *graph;
    struct names names;
    struct sim_part *items;
    size_t count, capacity;
    uint32_t *part_of;    /* by edge: its part, or SIM_NONE */
    struct sim_use *uses; /* edges of the parts, by part, then by node; NULL until listed */
    size_t *first;        /* by part: its first use, with one more entry; NULL until listed */
    struct table table;   /* private: finds equal parts */
};

/* Returns the name that trace_step_time gives a part at a level (A12.4); NAME_NONE if it has
** none. */
uint32_t sim_part_name(const struct sim_part *part, enum label_level level);

/* Finds the parts of the lags before all nodes or, by node, before the `wanted` ones. With
** `by_step`, time in which a thread is idle takes the names of the step thread's activity
** (A5.3). */
bool sim_parts_make(struct sim_parts *parts, const struct sim_graph *graph, bool by_step,
                    const bool *wanted, const struct stopper *stopper, struct failure *failure);

bool sim_parts_list_uses(struct sim_parts *parts, const struct stopper *stopper,
                         struct failure *failure);

/* Returns the row that labels a host lag at a level (A11), or ROW_NONE. LEVEL_KERNEL gives the
** call, if the thread is in one. `known` comes from sim_labels_make() for the node's member. */
uint32_t sim_label_row(const struct sim_graph *graph, struct known_file *known,
                       const struct sim_use *use, enum label_level level);

/* Derives the labels of a member's threads. The caller clears `known`. */
bool sim_labels_make(const struct sim_graph *graph, size_t member, struct known_file *known,
                     const struct stopper *stopper, struct failure *failure);

void sim_parts_clear(struct sim_parts *parts);

#endif
