/*
** What a host thread is in at an instant: the names that explain its time.
**
** 1. An event holds the instants from its start up to its end, the end excluded. Host events
**    that count (row_counts) take part, except steps and events that hold no instant.
** 2. Of two events of a thread the inner one is the one with the later start; ties: shorter
**    duration, then later in the file. Events need not nest.
** 3. The innermost event decides whether a thread is in a call (T10) or in something else.
**    Without one, the thread is in nothing.
** 4. A label is taken from the events that hold the instant, calls excluded. By level:
**    op          the innermost cpu_op, else the innermost event
**    top_op      the outermost cpu_op, else the outermost event
**    module      the innermost `nn.Module: ...`, else as top_op
**    annotation  the innermost user_annotation, else none
**    kernel      as op
** 5. `Operator` is the older name of category cpu_op.
*/
#ifndef TRACEDIFF_LABELS_H
#define TRACEDIFF_LABELS_H

#include "../reader/ascii.h"
#include "../trace/file.h"
#include "../trace/sort.h"

enum label_level { LEVEL_OP, LEVEL_TOP_OP, LEVEL_MODULE, LEVEL_ANNOTATION, LEVEL_KERNEL };

#define IN_NOTHING ROW_NONE
#define IN_EVENT (ROW_NONE - 1) /* the innermost event is not a call */

/* A stretch of time in which a thread is in one thing and has one label. */
struct label_stretch {
    int64_t start;   /* ns; the stretch lasts until the start of the next one */
    uint32_t inside; /* row of the call it is in, IN_EVENT or IN_NOTHING (rule 3) */
    uint32_t label;  /* row of the label (rule 4); ROW_NONE */
};

struct thread_labels {
    struct label_stretch *items; /* the first begins before all events; NULL: not made */
    size_t count;
    size_t hint; /* the stretch found last */
};

struct labels {
    struct thread_labels *threads; /* by track */
    size_t count;
};

static inline bool label_is_module(const struct name *name)
{
    return begins(name->text, name->text + name->length, "nn.Module: ");
}

/* Makes the stretches of the threads that are `wanted`, by track. Takes n log n in their events. */
bool labels_make(struct labels *labels, const struct trace_file *file, enum label_level level,
                 const bool *wanted, const struct stopper *stopper, struct failure *failure);

/* The index of the stretch of a thread that holds an instant. Quick if the instants of
** consecutive calls are close. */
size_t labels_find(struct thread_labels *thread, int64_t instant);

void labels_clear(struct labels *labels);

#endif
