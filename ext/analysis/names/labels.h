/*
** What a host thread is in at an instant: the names that explain its time, by rule A11.
*/
#ifndef TRACEDIFF_LABELS_H
#define TRACEDIFF_LABELS_H

#include "text/ascii.h"
#include "gaps.h"

enum label_level {
    LEVEL_OP,
    LEVEL_TOP_OP,
    LEVEL_MODULE,
    LEVEL_ANNOTATION,
    LEVEL_KERNEL,
    LEVEL_COUNT
};

enum {
    LABEL_LEVELS = LEVEL_KERNEL,   /* op, top_op, module, annotation */
    ALL_LABELS = (1 << LABEL_LEVELS) - 1,
    LABEL_GAPS = 1 << LABEL_LEVELS,  /* among wanted levels: gaps, too */
    LABEL_FRAMES = 2 << LABEL_LEVELS /* and what stands for frames */
};

#define IN_NOTHING ROW_NONE
#define IN_EVENT (ROW_NONE - 1) /* the innermost event is not a call */

/* A stretch of time in which a thread is in one thing and has one label of each level. */
struct label_stretch {
    int64_t start;                /* ns; the stretch lasts until the start of the next one */
    uint32_t inside;              /* row of the call it is in, IN_EVENT or IN_NOTHING (A11.3) */
    uint32_t label[LABEL_LEVELS]; /* rows (A11.4); ROW_NONE: none, or the level is not wanted */
    uint32_t frame;               /* row of the innermost Python frame of the user's code, or */
    uint32_t event;               /* of the innermost event that is not a Python frame; the same */
};

struct thread_labels {
    struct label_stretch *items; /* the first begins before all events; NULL: not made */
    size_t count;
    size_t hint;      /* the index of the stretch found last */
    struct gaps gaps; /* empty if they are not wanted */
};

struct labels {
    struct thread_labels *threads; /* by track */
    size_t count;
};

static inline bool label_is_module(const struct name *name)
{
    return begins(name->text, name->text + name->length, "nn.Module: ");
}

/* Whether a row is a Python frame, which is not a name for people (L4). */
static inline bool label_is_frame(const struct trace_file *file, uint32_t row)
{
    return row_is(file, row, CATEGORY_PYTHON) &&
           !label_is_module(&file->names.items[file->columns.name[row]]);
}

/* Makes the stretches of the threads that are `wanted`, by track; `steps` are those of the file.
** `levels` has one bit for each level wanted, `unshared` is that of a member. Takes n log n in
** their events. */
bool labels_make(struct labels *labels, const struct trace_file *file, const struct steps *steps,
                 unsigned levels, const bool *wanted, const bool *unshared,
                 const struct stopper *stopper, struct failure *failure);

/* The stretch of a thread that holds an instant; `hint` is its index. A thread without labels is in
** nothing. Quick if the instants of consecutive calls are close. */
const struct label_stretch *labels_at(struct thread_labels *thread, int64_t instant);

void labels_clear(struct labels *labels);

#endif
