/*
** Which operator, module and annotation device work belongs to: the labels of its launch
** (labels.h), at the start of the launch, on the launch's thread.
*/
#ifndef TRACEDIFF_OWNERS_H
#define TRACEDIFF_OWNERS_H

#include "labels.h"

enum { OWNER_LEVELS = LEVEL_KERNEL }; /* op, top_op, module, annotation */

/* An event of device work; labels are rows, or ROW_NONE. */
struct owner {
    uint32_t row;
    uint32_t label[OWNER_LEVELS]; /* by enum label_level */
};

struct owners {
    struct owner *items; /* in the order of the file; owned */
    size_t count;
};

/* Of the device work that counts (row_counts) in the steps `chosen`, by index of
** file->iterations; NULL: of all. `levels`: which labels are wanted, by bit. */
bool owners_find(struct owners *owners, const struct trace_file *file, const unsigned char *chosen,
                 unsigned levels, const struct stopper *stopper, struct failure *failure);

void owners_clear(struct owners *owners);

#endif
