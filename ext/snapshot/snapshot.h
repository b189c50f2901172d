/*
** A snapshot of PyTorch's allocator, written by torch.cuda.memory._dump_snapshot(), and its
** evaluation (M1 to M9). Events are numbered per device, from 0.
*/
#ifndef TRACEDIFF_SNAPSHOT_H
#define TRACEDIFF_SNAPSHOT_H

#include "text/number.h"
#include "frames.h"
#include "pickle.h"

/* Keys and words that are looked up in a snapshot; snapshot_load.c has their texts. */
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

/* An allocation, alive after event i (start: i = -1) if begin <= i + 1 and i + 1 < end. */
struct memory_allocation {
    int64_t address, bytes;
    uint32_t begin;  /* number of its alloc event plus 1; 0: before the first event (M5) */
    uint32_t end;    /* number of its free event plus 1; ALLOCATION_OPEN: alive at the end */
    uint32_t frames; /* id of its frame list, or NODE_NONE */
    bool in_block;   /* matches a block of a segment */
};
#define ALLOCATION_OPEN UINT32_MAX

/* Inconsistencies in a file, which are counted. */
enum memory_problem {
    MEMORY_TWICE,    /* M4: an alloc at the address of an open allocation */
    MEMORY_DIFFERS,  /* M6: an allocation and its block have different sizes */
    MEMORY_NO_BLOCK, /* M6: an open allocation without a block */
    MEMORY_TWO_BLOCKS,
    MEMORY_PROBLEMS
};

/* The innermost annotation changes at a time; NAME_NONE: there is none any more. */
struct annotation_change {
    int64_t time;
    uint32_t name; /* id of its text */
};

#define MEMORY_OF_HOST (-1) /* number of the pseudo-device for pinned host memory (M3.4) */

struct memory_device {
    int64_t number;
    bool used;        /* it has events or segments */
    uint32_t *events; /* ids of nodes */
    size_t event_count, event_capacity;
    uint32_t *segments; /* ids of nodes */
    size_t segment_count, segment_capacity;
    struct memory_allocation *allocations; /* in file order */
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
    struct memory_device *devices; /* by number; the host comes last */
    size_t device_count;
    const char *unread[MOST_UNREAD]; /* unsupported keys in the file; pointers to its texts */
    size_t unread_count;
    int64_t items; /* number of events, segments, blocks and annotations processed */
    struct frame_labels labels;
};

/* The value of a key in an event. */
static inline pickled event_field(const struct snapshot *snapshot,
                                  const struct memory_device *device, size_t event,
                                  enum snapshot_key key)
{
    return values_field(&snapshot->pickle.values, pickled_of(PICKLED_DICT, device->events[event]),
                        key);
}

/* The time of an event in us; NUMBER_NONE without a time. */
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

/* Counts an event, segment, block or annotation. Because lists may be shared, it fails above a
** limit that depends on the size of the file: 1,048,576 plus one per 8 bytes of the pickle, of
** which at most one per byte of the file on disk. */
bool snapshot_count(struct snapshot *snapshot, struct failure *failure);

/* The change of reserved memory by an event, in bytes. */
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
