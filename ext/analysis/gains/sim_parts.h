/*
** What a change may change (E8), by its names: the lags of device work, of the host, of transfers
** and of launches.
*/
#ifndef TRACEDIFF_SIM_PARTS_H
#define TRACEDIFF_SIM_PARTS_H

#include "analysis/parts/part_names.h"
#include "analysis/simulation/sim_net.h"

enum sim_what { SIM_DEVICE, SIM_HOST, SIM_TRANSFER, SIM_LAUNCH, SIM_WHATS };

/* The name shown to users. */
const char *sim_what_name(enum sim_what what);

/* All lags with the same names. */
struct sim_part {
    enum sim_what what;
    /* The class: of a launch that of its work, of the host CLASS_CALL, CLASS_HOST or
    ** CLASS_UNRECORDED. The names are labels (A11) by level; at LEVEL_KERNEL the own name of device
    ** work, of a call, of a gap (A5.4), or of what else the host is in (its label of LEVEL_OP). */
    struct attributed names;
};

struct sim_parts {
    const struct sim_graph *graph;
    struct names names;
    struct sim_part *items;
    size_t count, capacity;
    uint32_t *part_of;    /* by edge: its part, or SIM_NONE */
    struct sim_use *uses; /* if listed: the edges that have such lags, by part, then by node */
    size_t *first;        /* the same: by part its first use; one entry more at the end */
    struct table table;   /* private: of items */
};

/* The name of a part at a level, as trace_step_time has it (A12.4); NAME_NONE. */
uint32_t sim_part_name(const struct sim_part *part, enum label_level level);

/* Finds the parts of the lags before all nodes, or before those `wanted`, by node. `by_step`: time
** in which a thread is in nothing has the names of what the thread of the steps is in (A5.3). */
bool sim_parts_make(struct sim_parts *parts, const struct sim_graph *graph, bool by_step,
                    const bool *wanted, const struct stopper *stopper, struct failure *failure);

bool sim_parts_list_uses(struct sim_parts *parts, const struct stopper *stopper,
                         struct failure *failure);

/* The row that is the label of a level (A11) where the lag of the host before a node begins, or
** ROW_NONE. Level LEVEL_KERNEL: the call that the thread is in. The labels are those of the node's
** member, from sim_labels_make(). */
uint32_t sim_label_row(const struct sim_graph *graph, struct known_file *known,
                       const struct sim_use *use, enum label_level level);

/* Makes what is known of the names of a member, for all of its threads. */
bool sim_labels_make(const struct sim_graph *graph, size_t member, struct known_file *known,
                     const struct stopper *stopper, struct failure *failure);

void sim_parts_clear(struct sim_parts *parts);

#endif
