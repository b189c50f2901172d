/*
** GPU data in Perfetto's packets: stages of its work, and counters.
**
** 1. A stage is device work. PyTorch's stages have Kineto's names: kernel, gpu_memcpy, gpu_memset,
**    gpu_user_annotation, graph_event_node, graph_host_node. Any other stage is a kernel.
** 2. The name is the event's own, else its kernel's, else the stage's.
*/
#ifndef TRACEDIFF_GPU_EVENT_H
#define TRACEDIFF_GPU_EVENT_H

#include "track_event.h"

/* Fields of a stage event. */
enum {
    STAGE_EVENT_ID = 1,
    STAGE_DURATION,
    STAGE_OLD_QUEUE,
    STAGE_OLD_STAGE,
    STAGE_EXTRA = 6,
    STAGE_SPECIFICATIONS,
    STAGE_GPU = 11,
    STAGE_QUEUE = 13,
    STAGE_STAGE = 14,
    STAGE_NAME = 17,
    STAGE_KERNEL = 19,
    STAGE_NAME_IID,
    STAGE_LAUNCH
};

/* An extra datum: a name and a text. Each is NULL if missing. */
struct extra_field {
    const unsigned char *name, *value;
    size_t name_length, length;
};

struct extra_field extra_read(struct protobuf message);

/* A counter: its id and value. */
struct counter_field {
    uint32_t id;
    struct protobuf_field value; /* number 2: integer; 3: double; 0: none */
};

struct counter_field counter_read(struct protobuf message);

#endif
