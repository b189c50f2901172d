/*
** Sums up device work and host events of two traces side by side, by the keys asked for.
**
** 1. The keys of device work that counts (row_counts): op, top_op, module and annotation are the
**    labels of its launch (owners.h); kernel and name are its own name; kernel_type, cat and
**    stream are its own; shapes are those of its op.
** 2. The keys of a host event that counts: op, top_op, module and annotation follow
**    labels.h, rule 4, applied to the events that enclose it in its call stack (T5) and, unless it
*is a
**    call or a step, to itself; name and cat are its own; shapes are those of its op. It has no
**    kernel, kernel_type or stream.
** 3. Device work adds to kernels (its number of events) and to device time. Host events add to
**    self time (their own time, T5) and to host time (their durations, except those of events
**    directly inside an event with the same keys).
** 4. Annotations and syncs of the device are not counted.
** 5. A run of a row is a host event that launched device work of the row: the label for the
**    first of op (shapes count as op), top_op, module and annotation that is among the keys. A
**    host event that launched device work of several rows is a run of each.
** 6. Device work without that label, or with keys of the device only, counts as one run per
**    event.
*/
#ifndef TRACEDIFF_KEYED_H
#define TRACEDIFF_KEYED_H

#include "../trace/trace.h"
#include "../trace/wide.h"

enum key {
    KEY_OP,
    KEY_TOP_OP,
    KEY_MODULE,
    KEY_ANNOTATION,
    KEY_KERNEL,
    KEY_KERNEL_TYPE,
    KEY_CAT,
    KEY_STREAM,
    KEY_SHAPES,
    KEY_NAME,
    KEY_COUNT
};

struct keyed_sums {
    int64_t runs, kernels;                       /* rules 3, 5 and 6 */
    wide_time device_time, host_time, self_time; /* ns */
};

struct keyed {
    enum key keys[KEY_COUNT]; /* the keys asked for */
    size_t width;             /* number of keys */
    /* Changes names; NULL: they are kept. */
    size_t (*rename)(const char *name, size_t length, char *to);
    struct names names;
    uint32_t *ids;                /* `width` per row: ids in `names`, or NAME_NONE */
    struct keyed_sums (*sums)[2]; /* by row: for the two sides */
    size_t count;
    /* private */
    size_t id_capacity, sum_capacity;
    struct table table;
};

struct keyed_request {
    struct trace_file *file;
    const unsigned char *chosen; /* by index of file->iterations; NULL: everything */
    enum device_type device_type;
    int side;               /* 0 or 1 */
    const uint32_t *shapes; /* by row of an operator: id in `names`; NULL: not asked for */
};

/* Adds a file to one of the sides. */
bool keyed_add(struct keyed *keyed, const struct keyed_request *request,
               const struct stopper *stopper, struct failure *failure);

void keyed_clear(struct keyed *keyed);

#endif
