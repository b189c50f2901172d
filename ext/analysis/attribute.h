/*
** Attributes the time of each step, by rules A1 to A12: every instant of a step belongs to one
** class and one name or path of names, so the parts of a step sum to its length exactly.
*/
#ifndef TRACEDIFF_ATTRIBUTE_H
#define TRACEDIFF_ATTRIBUTE_H

#include "../trace/trace.h"
#include "../trace/wide.h"
#include "graphs.h"
#include "intervals.h"

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
    CLASS_NONE /* A10 */
};

/* The name shown to users; NULL for CLASS_NONE. */
const char *step_class_name(enum step_class step_class);

enum step_clock { CLOCK_DEVICE, CLOCK_HOST };

/* The names of a part: by level, and what stands for its top_op if that is of Python (L4). */
enum { NAME_FOR_FRAME = LEVEL_COUNT, PART_NAMES };

/* A part of a step. */
struct attributed {
    wide_time time; /* ns */
    enum step_class step_class;
    bool alone;                 /* of a path while it is found: work without a launch (A12.3) */
    uint32_t kernels;           /* of a path: the device work that starts in the step (A12) */
    uint32_t rank;              /* index into trace.ranks; in sums over all steps 0 */
    bool drained;               /* the device waits because the host waited for it (L8) */
    uint32_t name[PART_NAMES];  /* ids in attribution_names(), or NAME_NONE; by level, if a path was
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

/* The chosen steps of the chosen files of a trace, by rank, then iteration. The parts of a step
** are computed when they are asked for, because all parts together can be as many as the square
** of the number of steps. */
struct attribution;

struct attribution_request {
    enum label_level level; /* LEVEL_COUNT: parts have paths */
    enum step_clock clock;
    bool job; /* the path of the job that the chosen ranks are (Q1) */
    struct graph_knowledge knowledge;
    const struct intervals *drained; /* by member: the times that are (L8); NULL: not asked for */
};

/* The trace and what the knowledge points to must outlive the attribution; the choice need not. NULL on
** failure. */
struct attribution *attribution_new(const struct trace *trace, const struct step_choice *choice,
                                    const struct attribution_request *request,
                                    const struct stopper *stopper, struct failure *failure);

/* The number of steps. */
size_t attribution_count(const struct attribution *attribution);

/* Computes the parts of a step and replaces those that `step` holds. Asking for the steps of a
** rank one after the other is quick, because the data of its files is kept in between. */
bool attribution_step(struct attribution *attribution, size_t number, struct attributed_step *step,
                      struct failure *failure);

/* The same for the sums of the parts of all steps. */
bool attribution_total(struct attribution *attribution, struct attributed_step *total,
                       struct failure *failure);

/* The names of the parts computed so far. */
const struct names *attribution_names(const struct attribution *attribution);

/* NULL is allowed. */
void attribution_free(struct attribution *attribution);

#endif
