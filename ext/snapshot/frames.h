/*
** What the frames of an event say (M8, M9): labels of each frame and each list are made once.
*/
#ifndef TRACEDIFF_FRAMES_H
#define TRACEDIFF_FRAMES_H

#include "base/stopper.h"
#include "values.h"

enum memory_phase {
    PHASE_BEFORE, /* M5: not of frames */
    PHASE_UNKNOWN,
    PHASE_BACKWARD,
    PHASE_OPTIMIZER,
    PHASE_FORWARD
};

struct frame_label; /* of a frame */

/* Of a list of frames; ids are of frame_labels.names, or NAME_NONE. */
struct stack_label {
    uint32_t op, top_op, node, function, place;
    enum memory_phase phase;
};

struct frame_labels {
    struct names names;
    const struct stopper *stopper; /* borrowed */
    /* private */
    uint32_t *known; /* by node: number from 1 of its label; 0: not made yet */
    struct frame_label *frames;
    size_t frame_count, frame_capacity;
    struct stack_label *stacks;
    size_t stack_count, stack_capacity;
};

/* The known keys of frames, among those that the pickle was read with. */
struct frame_keys {
    size_t name, filename, line;
};

/* The label of a list of frames, valid until the next call; PICKLED_ABSENT: without frames. NULL on
** failure: FAILURE_MEMORY, FAILURE_INTERRUPTED, FAILURE_DAMAGE if names are more than 64 MiB. A
** struct that is zeroed but for its stopper has no labels. A frame whose texts are longer than
** 16 KiB says nothing. */
const struct stack_label *frame_labels_of(struct frame_labels *labels, const struct values *values,
                                          const struct frame_keys *keys, pickled list,
                                          struct failure *failure);

const char *memory_phase_name(enum memory_phase phase);

void frame_labels_clear(struct frame_labels *labels);

size_t frame_labels_memory(const struct frame_labels *labels, const struct values *values);

#endif
