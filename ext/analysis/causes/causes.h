/*
** Causes: the parts of a step's time in two traces (A12) as what people would name, which add up to
** the difference (L1 to L3).
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
    CAUSE_DIAGNOSED /* those of a diagnosis (DG2) */
};

/* The name shown to users. */
static inline const char *cause_kind_name(enum cause_kind kind)
{
    static const char *const names[] = {"changed", "replaced",     "communication", "host late",
                                        "queued",  "synchronized", "not recorded", "moved",
                                        "merged",  "diagnosis"};
    return names[kind];
}

/* The part of a step that time of the host is in. */
enum stage { STAGE_BACKWARD, STAGE_FORWARD, STAGE_LOADER, STAGE_OPTIMIZER, STAGE_NONE };

/* What the causes of a merge have in common (L3). */
enum merge_by { MERGE_BY_STAGE, MERGE_BY_NAME, MERGE_BY_FAMILY, MERGE_ROUNDS };

struct cause {
    enum cause_kind kind;
    enum step_class step_class; /* CLASS_NONE: several */
    uint32_t family, area;      /* ids in causes.names; NAME_NONE. Of several areas, the family */
    uint32_t name;              /* NAME_NONE: several, or without a name */
    bool single;                /* one name */
    bool loose;                 /* replaced outside of families (L2.7) */
    int64_t rank;               /* the only rank that differs so (Q8); NUMBER_NONE */
    bool changing;              /* it is on another rank in other steps (Q8.5) */
    size_t ranks_first, ranks_count; /* in causes.ranks: several that alone differ so (Q8.6) */
    enum stage stage;           /* of a part of the host */
    int64_t names, added, removed, instances;
    wide_time time[2]; /* ns, of all windows of control and of test */
    wide_time diff;    /* ns, times the windows of both sides */
    wide_time shifted; /* the same: what moved from or to its parts (L12) */
    wide_time changes; /* the same: the sum of the |diff| of what was merged */
    size_t only_first, only_count; /* in causes.only_in */
    size_t parts;                  /* the first of its parts, plus 1; the others follow by `next` */
    size_t replaced_first, replaced_count; /* in causes.replaced */
    size_t recomputed_first, recomputed_count; /* in causes.recomputed */
    enum merge_by merge;           /* of CAUSE_MERGED */
    size_t merged;                 /* of CAUSE_MERGED: how many causes */
    size_t owner;                  /* whose cause it is (DG2), if that was asked for; SIZE_MAX */
    bool beside; /* of CAUSE_MERGED: a larger cause that is not in it has the same in common */
};

struct causes {
    struct names names;
    struct cause_parts *parts; /* that they are made of; owned */
    struct cause *items; /* in the order of rows */
    size_t count, capacity;
    uint32_t *only_in;  /* ids of areas, of all causes one after the other */
    uint32_t *replaced; /* ids of the names of what was replaced, in the same way */
    int64_t *ranks; /* of all causes one after the other */
    size_t rank_count, rank_capacity;
    uint32_t *recomputed; /* ids of the operators that are computed again (L10), in the same way */
    int64_t windows[2];
    wide_time diff; /* the sum over all causes */
    const struct drains *drains;
};

/* The parts of all chosen steps of a side. */
struct cause_side {
    const struct attributed_step *total;
    const struct names *names;
};

/* The steps of all ranks of a side, each by itself. */
struct cause_ranks {
    struct attribution *attribution;
    const struct trace *trace;
};

/* Finds the causes of control and test; `families` are those of both, `drains` those that the
** attributions were given, `ranks` those of the two sides if they are jobs, else NULL. `shown`
** (L3): 0 if none are to be merged. On failure nothing is left to clear. */
bool causes_find(struct causes *causes, const struct cause_side *sides,
                 const struct families *families, const struct drains *drains,
                 const struct cause_ranks *ranks, size_t shown,
                 const struct stopper *stopper, struct failure *failure);

void causes_clear(struct causes *causes);

#endif
