/*
** Causes: the parts of a step's time in two traces (A12) under names that people use. They add up
** to the difference (L1 to L3).
*/
#ifndef TRACEDIFF_CAUSES_H
#define TRACEDIFF_CAUSES_H

#include "analysis/parts/areas.h"
#include "drains.h"

enum cause_kind {
    CAUSE_CHANGED,
    CAUSE_REPLACED,
    CAUSE_COMMUNICATION,
    CAUSE_HOST_LATE,
    CAUSE_QUEUED,
    CAUSE_SYNCHRONIZED,
    CAUSE_NOT_RECORDED,
    CAUSE_MOVED,
    CAUSE_MERGED,
    CAUSE_DIAGNOSED /* the joined causes of a diagnosis (DG2) */
};

/* Returns the name shown to users. */
static inline const char *cause_kind_name(enum cause_kind kind)
{
    static const char *const names[] = {"changed", "replaced",     "communication", "host late",
                                        "queued",  "synchronized", "not recorded", "moved",
                                        "merged",  "diagnosis"};
    return names[kind];
}

/* The stages of a step, for host time. */
enum stage { STAGE_BACKWARD, STAGE_FORWARD, STAGE_LOADER, STAGE_OPTIMIZER, STAGE_NONE };

/* The key by which causes are merged (L3). */
enum merge_by { MERGE_BY_STAGE, MERGE_BY_NAME, MERGE_BY_FAMILY, MERGE_ROUNDS };

struct cause {
    enum cause_kind kind;
    enum step_class step_class; /* CLASS_NONE: several */
    uint32_t family, area;      /* ids in causes.names, or NAME_NONE; several areas: the family */
    uint32_t name;              /* NAME_NONE: several names, or none */
    bool single;                /* a cause of one name */
    bool loose;                 /* replaced outside of families (L2.7) */
    int64_t rank;               /* the only rank that differs like this (Q8), or NUMBER_NONE */
    bool changing;              /* on different ranks in different steps (Q8.5) */
    size_t ranks_first, ranks_count; /* in causes.ranks: the only ranks that do (Q8.6) */
    enum stage stage;           /* for host time */
    int64_t names, added, removed, instances;
    wide_time time[2]; /* ns: over all windows of control and of test */
    wide_time diff;    /* ns times the windows of both sides */
    wide_time shifted; /* the same unit: time that moved from or to its parts (L12) */
    wide_time changes; /* the same unit: sum of |diff| over merged causes */
    size_t only_first, only_count; /* in causes.only_in */
    size_t parts;                  /* its first part, plus 1; `next` leads to the others */
    size_t replaced_first, replaced_count; /* in causes.replaced */
    size_t recomputed_first, recomputed_count; /* in causes.recomputed */
    enum merge_by merge;           /* for CAUSE_MERGED */
    size_t merged;                 /* CAUSE_MERGED: number of causes in it */
    size_t owner;                  /* its diagnosis (DG2), if requested, or SIZE_MAX */
    bool beside; /* CAUSE_MERGED: a larger cause outside of it has the same key */
};

struct causes {
    struct names names;
    struct cause_parts *parts; /* the parts of these causes; owned */
    struct cause *items; /* in the order of output rows */
    size_t count, capacity;
    uint32_t *only_in;  /* ids of areas, grouped by cause */
    uint32_t *replaced; /* name ids of replaced parts, grouped by cause */
    int64_t *ranks; /* grouped by cause */
    size_t rank_count, rank_capacity;
    uint32_t *recomputed; /* ids of operators that are computed again (L10), grouped by cause */
    int64_t windows[2];
    wide_time diff; /* sum over all causes */
    const struct drains *drains;
};

/* The parts of a side, summed over all chosen steps. */
struct cause_side {
    const struct attributed_step *total;
    const struct names *names;
};

/* The steps of all ranks of a side, rank by rank. */
struct cause_ranks {
    struct attribution *attribution;
    const struct trace *trace;
};

/* Finds the causes of control and test. `families` has the families of both, and `drains` must be
** the attributions' drains. `ranks` is set for two jobs, else NULL. `shown` (L3): 0 prevents
** merging. On failure there is nothing to clear. */
bool causes_find(struct causes *causes, const struct cause_side *sides,
                 const struct families *families, const struct drains *drains,
                 const struct cause_ranks *ranks, size_t shown,
                 const struct stopper *stopper, struct failure *failure);

void causes_clear(struct causes *causes);

#endif
