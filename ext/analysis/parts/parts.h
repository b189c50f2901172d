/*
** The parts of a step. Each combination of class and names occurs once.
*/
#ifndef TRACEDIFF_PARTS_H
#define TRACEDIFF_PARTS_H

#include "file/kernel_type.h"
#include "base/wide.h"
#include "analysis/names/labels.h"

enum step_class {
    CLASS_COMPUTE,
    CLASS_COMM,
    CLASS_MEMORY,
    CLASS_IDLE_CALL,
    CLASS_IDLE_HOST,
    CLASS_IDLE_UNRECORDED,
    CLASS_IDLE_LAUNCH,
    CLASS_IDLE_WAIT,
    CLASS_CALL,
    CLASS_HOST,
    CLASS_UNRECORDED,
    CLASS_COMPILE, /* CL12 */
    CLASS_NONE /* A10 */
};

/* Returns the name shown to users; NULL for CLASS_NONE. */
const char *step_class_name(enum step_class step_class);

/* Returns the class of device work (A3). */
static inline enum step_class step_class_of_work(enum kernel_type type)
{
    return type == KERNEL_COMPUTATION     ? CLASS_COMPUTE
           : type == KERNEL_COMMUNICATION ? CLASS_COMM
                                          : CLASS_MEMORY;
}

/* The names of a part: one per level, and the substitute for a top_op that is a Python frame
** (L4). */
enum { NAME_FOR_FRAME = LEVEL_COUNT, PART_NAMES };

/* The meaning of a part when the device communicates while the host is late (L9). */
enum late {
    LATE_NEVER, /* the host is not late */
    LATE_COMM,  /* communication; omitted for causes */
    LATE_HOST   /* time in which the device would wait for the host; only for causes */
};

/* The time of a step in one class under one name or path. */
struct attributed {
    wide_time time; /* ns */
    enum step_class step_class;
    bool alone;                /* paths only: work without a launch (A12.3) */
    uint32_t kernels; /* paths only: number of device events that start in the step (A12) */
    uint32_t rank;             /* index into trace.ranks; 0 in sums over all steps */
    bool drained;              /* the device waits because the host waited for it (L8) */
    enum late late;
    uint32_t name[PART_NAMES]; /* ids in attribution_names(), or NAME_NONE; paths (A12) have one
                                ** per level, other parts only the first */
};

struct attributed_step {
    bool total;              /* whether it sums all steps, without ranks */
    int64_t iteration;       /* NUMBER_NONE: the file has no steps, or this is a total */
    const struct name *form; /* name of its phase (T22); NULL: none */
    size_t steps;            /* number of steps in these parts */
    struct attributed *rows; /* by time descending, then class, then names; owned */
    size_t count, capacity;
};

/* A12.4: converts a part of a path to a part at one level, for causes or not. LEVEL_COUNT keeps the
** path. False if no part results, because the path only counts kernels or the host is late (L9). */
bool part_at_level(const struct attributed *path, enum label_level level, bool causes,
                   struct attributed *part);

/* Adds a part, or adds its time to the part with the same class and names. `parts` indexes the
** parts and starts empty. False if out of memory. */
bool parts_add(struct table *parts, struct attributed_step *to, const struct attributed *part);

bool parts_sort(struct attributed_step *step, const struct names *names,
                const struct stopper *stopper, struct failure *failure);

#endif
