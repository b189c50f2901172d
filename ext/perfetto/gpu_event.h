/*
** What Perfetto's packets say of a GPU: stages of its work, and counters.
**
** 1. A stage is device work. PyTorch's stages are what Kineto calls them: kernel, gpu_memcpy,
**    gpu_memset, gpu_user_annotation, graph_event_node, graph_host_node; any other is a kernel.
** 2. Its name is its own, else that of its kernel, else that of the stage.
*/
#ifndef TRACEDIFF_GPU_EVENT_H
#define TRACEDIFF_GPU_EVENT_H

#include "track_event.h"

/* Fields of the event of a stage. */
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

/* An extra datum: a name and a text; NULL if one is not there. */
struct extra_field {
    const unsigned char *name, *value;
    size_t name_length, length;
};

struct extra_field extra_read(struct protobuf message);

/* A counter: its number and value. */
struct counter_field {
    uint32_t id;
    struct protobuf_field value; /* number 2 is an integer, 3 a double, 0: none */
};

struct counter_field counter_read(struct protobuf message);

#endif
