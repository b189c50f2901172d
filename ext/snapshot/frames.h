/*
** Labels from the call stack of an event (M8, M9). Each frame and each list of frames is labelled
** only once.
*/
#ifndef TRACEDIFF_FRAMES_H
#define TRACEDIFF_FRAMES_H

#include "base/stopper.h"
#include "values.h"

enum memory_phase {
    PHASE_BEFORE, /* M5: unrelated to frames */
    PHASE_UNKNOWN,
    PHASE_BACKWARD,
    PHASE_OPTIMIZER,
    PHASE_FORWARD
};

struct frame_label; /* of a single frame */

/* The label of a list of frames; ids are from frame_labels.names, or NAME_NONE. */
struct stack_label {
    uint32_t op, top_op, node, function, place;
    enum memory_phase phase;
};

struct frame_labels {
    struct names names;
    const struct stopper *stopper; /* borrowed */
    /* private */
    uint32_t *known; /* by node: number of its label, from 1; 0: none yet */
    struct frame_label *frames;
    size_t frame_count, frame_capacity;
    struct stack_label *stacks;
    size_t stack_count, stack_capacity;
};

/* The frame keys among the known keys of the pickle. */
struct frame_keys {
    size_t name, filename, line;
};

/* The label of a list of frames, valid until the next call. PICKLED_ABSENT means no frames. In an
** empty struct only the stopper is set. Frames with texts longer than 16 KiB are ignored. NULL on
** failure: FAILURE_MEMORY, FAILURE_INTERRUPTED, FAILURE_DAMAGE if names exceed 64 MiB. */
const struct stack_label *frame_labels_of(struct frame_labels *labels, const struct values *values,
                                          const struct frame_keys *keys, pickled list,
                                          struct failure *failure);

const char *memory_phase_name(enum memory_phase phase);

void frame_labels_clear(struct frame_labels *labels);

size_t frame_labels_memory(const struct frame_labels *labels, const struct values *values);

#endif
