/*
** The argument `changes` of trace_what_if: a JSON array of objects (E8).
*/
#ifndef TRACEDIFF_CHANGES_ARGUMENT_H
#define TRACEDIFF_CHANGES_ARGUMENT_H

#include "analysis/gains/sim_changes.h"
#include "sqlite/table_function.h"

/* The keys of a change: the kind of work, the change, and conditions on the work. */
#define CHANGE_KEYS_TEXT                                                                          \
    "what, factor, set_us, add_us, remove; of which work: rank, step, class, op, top_op, "        \
    "module, annotation, name"

struct changes_argument {
    struct sim_change *items; /* in the order of the array; owned, like their labels */
    size_t count, capacity;
};

/* Reads the changes. False if the argument is not such an array, with call->failure filled. Clear
** the changes in this case, too. */
bool changes_argument_read(struct call *call, int argument, struct changes_argument *changes);

/* Applies all changes. A change that selects no work is an error. */
bool changes_argument_make(struct call *call, const struct changes_argument *changes,
                           const struct sim_parts *parts, int64_t *longer);

void changes_argument_clear(struct changes_argument *changes);

#endif
