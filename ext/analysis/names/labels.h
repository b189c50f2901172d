/*
** The labels of a host thread at each instant: the names that explain its time (A11).
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
    LABEL_GAPS = 1 << LABEL_LEVELS,  /* with the levels: also make gaps */
    LABEL_FRAMES = 2 << LABEL_LEVELS /* with the levels: also find substitutes for frames (L4) */
};

#define IN_NOTHING ROW_NONE
#define IN_EVENT (ROW_NONE - 1) /* the innermost event is not a call */

/* A stretch of time in which a thread has the same call or event around it and the same labels. */
struct label_stretch {
    int64_t start;                /* ns; ends where the next stretch starts */
    uint32_t inside;              /* row of the call it is in, IN_EVENT or IN_NOTHING (A11.3) */
    uint32_t label[LABEL_LEVELS]; /* rows (A11.4); ROW_NONE: none, or an unwanted level */
    uint32_t frame; /* row of the innermost Python frame of the user's code, or ROW_NONE */
    uint32_t event; /* row of the innermost event that is not a Python frame, or ROW_NONE */
};

struct thread_labels {
    struct label_stretch *items; /* the first starts before all events; NULL: not wanted */
    size_t count;
    size_t hint;      /* index of the stretch found last */
    struct gaps gaps; /* empty if unwanted */
};

struct labels {
    struct thread_labels *threads; /* by track */
    size_t count;
};

static inline bool label_is_module(const struct name *name)
{
    return begins(name->text, name->text + name->length, "nn.Module: ");
}

/* Whether a row is a Python frame, whose name is not a label (L4). */
static inline bool label_is_frame(const struct trace_file *file, uint32_t row)
{
    return row_is(file, row, CATEGORY_PYTHON) &&
           !label_is_module(&file->names.items[file->columns.name[row]]);
}

/* Makes the stretches of the `wanted` threads, by track. `steps` belong to the file, `unshared` to
** its member. `levels` has one bit per wanted level. Takes O(n log n) for n events. */
bool labels_make(struct labels *labels, const struct trace_file *file, const struct steps *steps,
                 unsigned levels, const bool *wanted, const bool *unshared,
                 const struct stopper *stopper, struct failure *failure);

/* Returns the stretch of a thread at an instant, and sets `hint` to its index. A thread without
** labels has one that is in no event. Fast if consecutive calls ask for close instants. */
const struct label_stretch *labels_at(struct thread_labels *thread, int64_t instant);

void labels_clear(struct labels *labels);

#endif
