#include "snapshot.h"

static const struct frame_keys frame_keys = {KEY_NAME, KEY_FILENAME, KEY_LINE};

int64_t event_reserves(const struct snapshot *snapshot, const struct memory_device *device,
                       size_t event)
{
    pickled action = event_field(snapshot, device, event, KEY_ACTION);
    int64_t bytes = 0;
    if (pickled_kind(action) != PICKLED_TEXT || pickled_id(action) < WORD_SEGMENT_ALLOC ||
        pickled_id(action) > WORD_SEGMENT_UNMAP)
        return 0;
    values_number(&snapshot->pickle.values, event_field(snapshot, device, event, KEY_SIZE), &bytes);
    return pickled_id(action) <= WORD_SEGMENT_MAP ? bytes : -bytes;
}

bool snapshot_count(struct snapshot *snapshot, struct failure *failure)
{
    enum { FREE_ITEMS = 1 << 20, BYTES_OF_AN_ITEM = 8 };
    int64_t more = snapshot->pickle.size / BYTES_OF_AN_ITEM;
    if (more > snapshot->identity.size)
        more = snapshot->identity.size;
    return ++snapshot->items <= FREE_ITEMS + more ||
           failure_set(failure, FAILURE_DAMAGE,
                       "'%s': more events, segments, blocks or annotations than a file of its size "
                       "has",
                       snapshot->path);
}

const struct stack_label *allocation_label(struct snapshot *snapshot,
                                           const struct memory_allocation *allocation,
                                           struct failure *failure)
{
    pickled frames = allocation->frames == NODE_NONE
                         ? 0
                         : pickled_of(PICKLED_LIST, allocation->frames);
    return frame_labels_of(&snapshot->labels, &snapshot->pickle.values, &frame_keys, frames,
                           failure);
}
