/*
** The parts of a step: each class and names once, in order.
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

/* The name shown to users; NULL for CLASS_NONE. */
const char *step_class_name(enum step_class step_class);

/* The class of device work (A3). */
static inline enum step_class step_class_of_work(enum kernel_type type)
{
    return type == KERNEL_COMPUTATION     ? CLASS_COMPUTE
           : type == KERNEL_COMMUNICATION ? CLASS_COMM
                                          : CLASS_MEMORY;
}

/* The names of a part: by level, and what stands for its top_op if that is of Python (L4). */
enum { NAME_FOR_FRAME = LEVEL_COUNT, PART_NAMES };

/* How a part counts while the device communicates and the host is late (L9). */
enum late {
    LATE_NEVER, /* it is not so */
    LATE_COMM,  /* as communication, but not for causes */
    LATE_HOST   /* as what the device would wait for, only for causes */
};

/* A part of a step. */
struct attributed {
    wide_time time; /* ns */
    enum step_class step_class;
    bool alone;                /* of a path while it is found: work without a launch (A12.3) */
    uint32_t kernels;          /* of a path: the device work that starts in the step (A12) */
    uint32_t rank;             /* index into trace.ranks; in sums over all steps 0 */
    bool drained;              /* the device waits because the host waited for it (L8) */
    enum late late;
    uint32_t name[PART_NAMES]; /* ids in attribution_names(), or NAME_NONE; by level, if a path was
                                ** asked for (A12), else the first is the only one */
};

struct attributed_step {
    bool total;              /* parts of all steps, without ranks */
    int64_t iteration;       /* NUMBER_NONE: the file has no steps, or parts of all steps */
    const struct name *form; /* the name that tells its phase (T22); NULL: none */
    size_t steps;            /* whose parts these are */
    struct attributed *rows; /* by time descending, then class, then names; owned */
    size_t count, capacity;
};

/* A12.4: a part of a path as parts at a level have it, or causes; it stays a path for LEVEL_COUNT.
** False if there is no such part: only kernels are counted, or the host is late (L9). */
bool part_at_level(const struct attributed *path, enum label_level level, bool causes,
                   struct attributed *part);

/* Adds a part to a step, or its time to the part of its class and names. `parts` finds these; it is
** empty before the first. False if out of memory. */
bool parts_add(struct table *parts, struct attributed_step *to, const struct attributed *part);

/* Sorts the parts of a step. */
bool parts_sort(struct attributed_step *step, const struct names *names,
                const struct stopper *stopper, struct failure *failure);

#endif
