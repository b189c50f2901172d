/*
** The operator, module and annotation that device work belongs to: the labels (labels.h) on the
** thread of its launch, at the start of the launch.
*/
#ifndef TRACEDIFF_OWNERS_H
#define TRACEDIFF_OWNERS_H

#include "graphs.h"

/* the bit for the device annotation, next to the bits for labels */
#define OWNER_GPU_ANNOTATION (1u << LABEL_LEVELS)

/* an event of device work; its labels and annotation are rows, or ROW_NONE */
struct owner {
    uint32_t row;
    uint32_t label[LABEL_LEVELS]; /* by enum label_level */
    uint32_t gpu_annotation;      /* innermost (T5.2) on its pid and tid that holds its start */
};

struct owners {
    struct owner *items; /* in file order; owned */
    size_t count;
    struct graph_names graphs; /* names of work in graphs; they precede labels (A14, A15) */
};

/* Finds the owners of a file's device work that counts (row_counts). `chosen` selects steps by
** index of steps->iterations; NULL: everything. `levels` has one bit per wanted label, and
** OWNER_GPU_ANNOTATION. */
bool owners_find(struct owners *owners, const struct graph_member *of, const unsigned char *chosen,
                 unsigned levels, const struct stopper *stopper, struct failure *failure);

void owners_clear(struct owners *owners);

/* Caches the operators of all device work with the file, at 8 bytes per event. `labels` must cover
** all threads that launched work, and be made with `steps`; no graph of the file may name work
** (A14). owners_find() uses the cache if it wants no other labels. Does nothing for steps by
** pattern, which belong to one query (T20). False if interrupted. */
bool owners_keep_ops(struct trace_file *file, const struct steps *steps, struct labels *labels,
                     const struct stopper *stopper, struct failure *failure);

#endif
