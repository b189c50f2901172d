/*
** Device work and host events of two traces summed up side by side, by what is asked for.
**
** 1. Of device work that counts (row_counts): op, top_op, module and annotation are the
**    labels of its launch (owners.h), kernel and name its own name, kernel_type, cat and
**    stream its own, shapes those of its op.
** 2. Of a host event that counts: op, top_op, module and annotation are as in rule 4 of
**    labels.h, of the events that are around it in its call stack (T5) and itself, if it
**    is no call and no step; name and cat are its own, shapes those of its op; it has no
**    kernel, kernel_type and stream.
** 3. Device work sums up kernels (its events) and device time. Host events sum up their own
**    time (T5), and host time: their durations, but of those right inside of an event with
**    the same keys.
** 4. Annotations and syncs of the device count nowhere.
** 5. A run is an event of the host that launched device work of the row: the label of the
**    first of op (shapes count as op), top_op, module and annotation that is among the
**    keys. One that launched device work of several rows is a run of each.
** 6. Device work without that label, or with keys of the device alone, is a run an event.
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
    enum key keys[KEY_COUNT]; /* those asked for */
    size_t width;             /* how many */
    /* What names become; NULL: they stay. */
    size_t (*rename)(const char *name, size_t length, char *to);
    struct names names;
    uint32_t *ids;                /* width a row: texts of `names`, or NAME_NONE */
    struct keyed_sums (*sums)[2]; /* by row: of the two sides */
    size_t count;
    /* private */
    size_t id_capacity, sum_capacity;
    struct table table;
};

struct keyed_request {
    struct trace_file *file;
    const unsigned char *chosen; /* by index of file->iterations; NULL: everything */
    enum device_type device_type;
    int side; /* 0 or 1 */
    const uint32_t
        *shapes; /* by row that is an operator: a text of `names`; NULL: none are asked for */
};

/* Adds a file to one of the sides. */
bool keyed_add(struct keyed *keyed, const struct keyed_request *request,
               const struct stopper *stopper, struct failure *failure);

void keyed_clear(struct keyed *keyed);

#endif
