/*
** The operator, module and annotation that device work belongs to: the labels (labels.h) on the
** thread of its launch, at the start of the launch.
*/
#ifndef TRACEDIFF_OWNERS_H
#define TRACEDIFF_OWNERS_H

#include "graphs.h"

/* The bit, beside those of labels, of the annotation of the device. */
#define OWNER_GPU_ANNOTATION (1u << LABEL_LEVELS)

/* An event of device work. Its labels and its annotation are rows, or ROW_NONE. */
struct owner {
    uint32_t row;
    uint32_t label[LABEL_LEVELS]; /* by enum label_level */
    uint32_t gpu_annotation;      /* the innermost (T5.2) of its pid and tid that holds its start */
};

struct owners {
    struct owner *items; /* in the order of the file; owned */
    size_t count;
    struct graph_names graphs; /* names of work in graphs, which go before labels (A14, A15) */
};

/* Finds the owners of the device work of a file that counts (row_counts). `chosen` selects steps by
** index of steps->iterations; NULL: everything. `levels` has one bit for each label wanted, and
** OWNER_GPU_ANNOTATION. */
bool owners_find(struct owners *owners, const struct graph_member *of, const unsigned char *chosen,
                 unsigned levels, const struct stopper *stopper, struct failure *failure);

void owners_clear(struct owners *owners);

/* Keeps the operators of all device work with a file, 8 bytes for each event of it, by labels of
** all threads that launched it, made with `steps`. owners_find() takes them if it wants no other
** label. Does nothing for steps by a pattern, which belong to one question (T20). The graphs of the
** file name no work (A14). False if it was stopped. */
bool owners_keep_ops(struct trace_file *file, const struct steps *steps, struct labels *labels,
                     const struct stopper *stopper, struct failure *failure);

#endif
