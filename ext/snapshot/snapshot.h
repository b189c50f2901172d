/*
** A snapshot of PyTorch's allocator: what torch.cuda.memory._dump_snapshot() writes, and what
** follows from it (M1 to M9). Numbers of events are those of the device, from 0.
*/
#ifndef TRACEDIFF_SNAPSHOT_H
#define TRACEDIFF_SNAPSHOT_H

#include "text/number.h"
#include "frames.h"
#include "pickle.h"

/* The keys and words that a snapshot is read with; snapshot_load.c has their texts. */
enum snapshot_key {
    KEY_SEGMENTS,
    KEY_DEVICE_TRACES,
    KEY_HOST_SEGMENTS,
    KEY_HOST_TRACES,
    KEY_EXTERNAL_ANNOTATIONS,
    KEY_ACTION,
    KEY_ADDR,
    KEY_SIZE,
    KEY_STREAM,
    KEY_TIME_US,
    KEY_FRAMES,
    KEY_COMPILE_CONTEXT,
    KEY_USER_METADATA,
    KEY_NAME,
    KEY_FILENAME,
    KEY_LINE,
    KEY_DEVICE,
    KEY_ADDRESS,
    KEY_TOTAL_SIZE,
    KEY_ALLOCATED_SIZE,
    KEY_ACTIVE_SIZE,
    KEY_REQUESTED_SIZE,
    KEY_SEGMENT_TYPE,
    KEY_SEGMENT_POOL_ID,
    KEY_IS_EXPANDABLE,
    KEY_BLOCKS,
    KEY_STATE,
    KEY_STAGE,
    WORD_ALLOC,
    WORD_FREE_REQUESTED,
    WORD_FREE_COMPLETED,
    WORD_SEGMENT_ALLOC,
    WORD_SEGMENT_MAP,
    WORD_SEGMENT_FREE,
    WORD_SEGMENT_UNMAP,
    WORD_START,
    WORD_END,
    SNAPSHOT_KEYS
};

/* An allocation is alive after event i, from -1, if begin <= i + 1 and i + 1 < end. */
struct memory_allocation {
    int64_t address, bytes;
    uint32_t begin;  /* the number of its event plus 1; 0: before the first (M5) */
    uint32_t end;    /* the same; ALLOCATION_OPEN: it is alive at the end */
    uint32_t frames; /* id of the list; NODE_NONE: without */
    bool in_block;   /* a block of a segment is this allocation */
};
#define ALLOCATION_OPEN UINT32_MAX

/* What does not hold in a file, and is counted. */
enum memory_problem {
    MEMORY_TWICE,    /* M4: an alloc where an allocation is open */
    MEMORY_DIFFERS,  /* M6: an allocation and its block have different sizes */
    MEMORY_NO_BLOCK, /* M6: an open allocation without a block */
    MEMORY_TWO_BLOCKS,
    MEMORY_PROBLEMS
};

/* From a time on, an annotation is the innermost; NAME_NONE: none is. */
struct annotation_change {
    int64_t time;
    uint32_t name; /* id of a text */
};

#define MEMORY_OF_HOST (-1) /* the number of the device that is pinned memory of the host (M3.4) */

struct memory_device {
    int64_t number;
    bool used;        /* has events or segments */
    uint32_t *events; /* ids of nodes */
    size_t event_count, event_capacity;
    uint32_t *segments; /* ids of nodes */
    size_t segment_count, segment_capacity;
    struct memory_allocation *allocations; /* in the order in which the file shows them */
    size_t allocation_count, allocation_capacity;
    struct annotation_change *changes; /* by time */
    size_t change_count;
    int64_t peak_bytes, peak_event, peak_blocks, peak_reserved; /* M7 */
    int64_t end_bytes, end_reserved;
    int64_t reserved_before; /* at the first event */
    int64_t problems[MEMORY_PROBLEMS];
};

enum { MOST_UNREAD = 8 };

struct snapshot {
    int references;
    char *path;
    struct identity identity;
    struct pickle pickle;
    struct memory_device *devices; /* by number, that of the host last */
    size_t device_count;
    const char *unread[MOST_UNREAD]; /* keys of the file that are not read; its texts */
    size_t unread_count;
    int64_t items; /* events, segments, blocks and annotations that were gone through */
    struct frame_labels labels;
};

/* An event's value of a key. */
static inline pickled event_field(const struct snapshot *snapshot,
                                  const struct memory_device *device, size_t event,
                                  enum snapshot_key key)
{
    return values_field(&snapshot->pickle.values, pickled_of(PICKLED_DICT, device->events[event]),
                        key);
}

/* The time of an event in us; NUMBER_NONE without. */
static inline int64_t event_time(const struct snapshot *snapshot,
                                 const struct memory_device *device, int64_t event)
{
    int64_t time;
    return event >= 0 &&
                   values_number(&snapshot->pickle.values,
                                 event_field(snapshot, device, (size_t)event, KEY_TIME_US), &time)
               ? time
               : NUMBER_NONE;
}

/* Counts an event, segment, block or annotation. Fails if there are more than a file of this size
** has, as lists may be shared: beyond 1,048,576, one for each 8 bytes of the pickle, and one for
** each of the file on disk. */
bool snapshot_count(struct snapshot *snapshot, struct failure *failure);

/* What an event adds to the memory that is reserved. */
int64_t event_reserves(const struct snapshot *snapshot, const struct memory_device *device,
                       size_t event);

/* Labels of an allocation (M8, M9); valid until the next call. NULL on failure. */
const struct stack_label *allocation_label(struct snapshot *snapshot,
                                           const struct memory_allocation *allocation,
                                           struct failure *failure);

static inline bool allocation_alive(const struct memory_allocation *allocation, int64_t event)
{
    return (int64_t)allocation->begin <= event + 1 && event + 1 < (int64_t)allocation->end;
}

#endif
