#include "snapshot_load.h"

#include <string.h>

#include "base/memory.h"
#include "annotated.h"
#include "lifetimes.h"

static const char *const key_texts[SNAPSHOT_KEYS] = {
    [KEY_SEGMENTS] = "segments",
    [KEY_DEVICE_TRACES] = "device_traces",
    [KEY_HOST_SEGMENTS] = "host_segments",
    [KEY_HOST_TRACES] = "host_traces",
    [KEY_EXTERNAL_ANNOTATIONS] = "external_annotations",
    [KEY_ACTION] = "action",
    [KEY_ADDR] = "addr",
    [KEY_SIZE] = "size",
    [KEY_STREAM] = "stream",
    [KEY_TIME_US] = "time_us",
    [KEY_FRAMES] = "frames",
    [KEY_COMPILE_CONTEXT] = "compile_context",
    [KEY_USER_METADATA] = "user_metadata",
    [KEY_NAME] = "name",
    [KEY_FILENAME] = "filename",
    [KEY_LINE] = "line",
    [KEY_DEVICE] = "device",
    [KEY_ADDRESS] = "address",
    [KEY_TOTAL_SIZE] = "total_size",
    [KEY_ALLOCATED_SIZE] = "allocated_size",
    [KEY_ACTIVE_SIZE] = "active_size",
    [KEY_REQUESTED_SIZE] = "requested_size",
    [KEY_SEGMENT_TYPE] = "segment_type",
    [KEY_SEGMENT_POOL_ID] = "segment_pool_id",
    [KEY_IS_EXPANDABLE] = "is_expandable",
    [KEY_BLOCKS] = "blocks",
    [KEY_STATE] = "state",
    [KEY_STAGE] = "stage",
    [WORD_ALLOC] = "alloc",
    [WORD_FREE_REQUESTED] = "free_requested",
    [WORD_FREE_COMPLETED] = "free_completed",
    [WORD_SEGMENT_ALLOC] = "segment_alloc",
    [WORD_SEGMENT_MAP] = "segment_map",
    [WORD_SEGMENT_FREE] = "segment_free",
    [WORD_SEGMENT_UNMAP] = "segment_unmap",
    [WORD_START] = "START",
    [WORD_END] = "END",
};
_Static_assert((int)SNAPSHOT_KEYS <= (int)MOST_KNOWN_KEYS, "raise MOST_KNOWN_KEYS");

enum { MOST_DEVICES = 128 /* PyTorch's own limit is 120 */ };

static bool refuse(const struct snapshot *snapshot, struct failure *failure, const char *what)
{
    return failure_set(failure, FAILURE_NOT_TRACE,
                       "'%s' is a pickle, but not a snapshot of PyTorch's allocator: %s",
                       snapshot->path, what);
}

/* Creates the devices up to a number. */
static bool make_devices(struct snapshot *snapshot, int64_t number, struct failure *failure)
{
    size_t count = (size_t)number + 1;
    if (number < 0 || number >= MOST_DEVICES)
        return refuse(snapshot, failure, "the number of a device is not from 0 to 127");
    if (count <= snapshot->device_count)
        return true;
    struct memory_device *devices = memory_resize(snapshot->devices, count * sizeof *devices);
    if (!devices)
        return failure_memory(failure);
    memset(devices + snapshot->device_count, 0,
           (count - snapshot->device_count) * sizeof *devices);
    snapshot->devices = devices;
    for (; snapshot->device_count < count; snapshot->device_count++)
        devices[snapshot->device_count].number = (int64_t)snapshot->device_count;
    return true;
}

static bool add_id(uint32_t **ids, size_t *count, size_t *capacity, pickled dict,
                   struct failure *failure)
{
    if (!MEMORY_GROW(*ids, *capacity, *count + 1))
        return failure_memory(failure);
    (*ids)[(*count)++] = pickled_id(dict);
    return true;
}

static bool is_list(pickled value)
{
    return pickled_kind(value) == PICKLED_LIST || pickled_kind(value) == PICKLED_TUPLE;
}

static bool take_events(struct snapshot *snapshot, struct memory_device *device, pickled list,
                        struct failure *failure)
{
    struct value_walk walk = values_walk(&snapshot->pickle.values, list);
    pickled event;
    while ((event = walk_next(&walk)) != 0) {
        if (pickled_kind(event) != PICKLED_DICT)
            return refuse(snapshot, failure, "an event is not a dict");
        if (!snapshot_count(snapshot, failure) ||
            !add_id(&device->events, &device->event_count, &device->event_capacity, event,
                    failure))
            return false;
    }
    return true;
}

static bool take_device(struct snapshot *snapshot, size_t number, pickled list,
                        struct failure *failure)
{
    if (!is_list(list))
        return refuse(snapshot, failure, "what 'device_traces' has is not a list");
    return make_devices(snapshot, (int64_t)number, failure) &&
           take_events(snapshot, &snapshot->devices[number], list, failure);
}

/* Adds the pseudo-device for pinned host memory, if the file has it, with one or several lists of
** events. */
static bool take_host(struct snapshot *snapshot, struct failure *failure)
{
    const struct values *values = &snapshot->pickle.values;
    pickled traces = values_field(values, snapshot->pickle.root, KEY_HOST_TRACES), item;
    struct value_walk lists = values_walk(values, traces);
    struct value_walk segments =
        values_walk(values, values_field(values, snapshot->pickle.root, KEY_HOST_SEGMENTS));
    if (!lists.node && !segments.node)
        return true;
    struct memory_device *devices =
        memory_resize(snapshot->devices, (snapshot->device_count + 1) * sizeof *devices);
    if (!devices)
        return failure_memory(failure);
    struct memory_device *host = &devices[snapshot->device_count++];
    snapshot->devices = devices;
    *host = (struct memory_device){.number = MEMORY_OF_HOST};
    bool several = is_list(walk_next(&lists));
    lists = values_walk(values, traces);
    if (!several && !take_events(snapshot, host, traces, failure))
        return false;
    while (several && (item = walk_next(&lists)) != 0)
        if (!take_events(snapshot, host, item, failure))
            return false;
    while ((item = walk_next(&segments)) != 0) {
        if (pickled_kind(item) != PICKLED_DICT)
            return refuse(snapshot, failure, "a segment is not a dict");
        if (!snapshot_count(snapshot, failure) ||
            !add_id(&host->segments, &host->segment_count, &host->segment_capacity, item, failure))
            return false;
    }
    return true;
}

/* Finds unsupported keys in the file. Settings do not count, because they say nothing of memory. */
static void find_unread(struct snapshot *snapshot)
{
    static const enum snapshot_key known[] = {KEY_SEGMENTS, KEY_DEVICE_TRACES, KEY_HOST_SEGMENTS,
                                              KEY_HOST_TRACES, KEY_EXTERNAL_ANNOTATIONS};
    const struct values *values = &snapshot->pickle.values;
    size_t count = values_pairs(values, snapshot->pickle.root);
    for (size_t i = 0; i < count && snapshot->unread_count < MOST_UNREAD; i++) {
        pickled key, value;
        values_pair(values, snapshot->pickle.root, i, &key, &value);
        const struct name *name = values_name(values, key);
        bool read = !name || strcmp(name->text, "allocator_settings") == 0;
        for (size_t k = 0; k < sizeof known / sizeof *known; k++)
            read = read || pickled_id(key) == known[k];
        if (!read)
            snapshot->unread[snapshot->unread_count++] = name->text;
    }
}

static bool take_segments(struct snapshot *snapshot, pickled list, struct failure *failure)
{
    const struct values *values = &snapshot->pickle.values;
    struct value_walk walk = values_walk(values, list);
    pickled segment;
    while ((segment = walk_next(&walk)) != 0) {
        int64_t number = 0;
        if (pickled_kind(segment) != PICKLED_DICT)
            return refuse(snapshot, failure, "a segment is not a dict");
        values_number(values, values_field(values, segment, KEY_DEVICE), &number);
        if (!snapshot_count(snapshot, failure) || !make_devices(snapshot, number, failure))
            return false;
        struct memory_device *device = &snapshot->devices[number];
        if (!add_id(&device->segments, &device->segment_count, &device->segment_capacity, segment,
                    failure))
            return false;
    }
    return true;
}

static bool find_devices(struct snapshot *snapshot, struct failure *failure)
{
    const struct values *values = &snapshot->pickle.values;
    pickled root = snapshot->pickle.root, list;
    pickled traces = values_field(values, root, KEY_DEVICE_TRACES);
    pickled segments = values_field(values, root, KEY_SEGMENTS);
    struct value_walk walk = values_walk(values, traces);
    if (pickled_kind(root) != PICKLED_DICT)
        return refuse(snapshot, failure, "it is not a dict");
    if (!walk.node)
        return refuse(snapshot, failure, "it has no list 'device_traces'");
    if (!values_walk(values, segments).node)
        return refuse(snapshot, failure, "it has no list 'segments'");
    for (size_t number = 0; (list = walk_next(&walk)) != 0; number++)
        if (!take_device(snapshot, number, list, failure))
            return false;
    find_unread(snapshot);
    return take_segments(snapshot, segments, failure) && take_host(snapshot, failure);
}

static bool load(struct snapshot *snapshot, const char *path, const struct stopper *stopper,
                 struct failure *failure)
{
    size_t length = strlen(path) + 1;
    snapshot->references = 1;
    snapshot->labels.stopper = stopper;
    snapshot->path = memory_allocate(length);
    if (!snapshot->path)
        return failure_memory(failure);
    memcpy(snapshot->path, path, length);
    if (!pickle_read(&snapshot->pickle, path, key_texts, SNAPSHOT_KEYS, &snapshot->identity,
                     stopper, failure) ||
        !find_devices(snapshot, failure))
        return false;
    for (size_t i = 0; i < snapshot->device_count; i++) {
        struct memory_device *device = &snapshot->devices[i];
        device->used = device->event_count + device->segment_count > 0;
        if (!lifetimes_find(snapshot, device, stopper, failure) ||
            !annotated_find(snapshot, device, stopper, failure))
            return false;
    }
    return true;
}

struct snapshot *snapshot_load(const char *path, const struct stopper *stopper,
                               struct failure *failure)
{
    struct snapshot *snapshot = memory_zeroed(1, sizeof *snapshot);
    if (!snapshot)
        failure_memory(failure);
    if (snapshot && load(snapshot, path, stopper, failure))
        return snapshot;
    snapshot_release(snapshot);
    return NULL;
}

void snapshot_release(struct snapshot *snapshot)
{
    if (!snapshot || --snapshot->references > 0)
        return;
    for (size_t i = 0; i < snapshot->device_count; i++) {
        memory_free(snapshot->devices[i].events);
        memory_free(snapshot->devices[i].segments);
        memory_free(snapshot->devices[i].allocations);
        memory_free(snapshot->devices[i].changes);
    }
    memory_free(snapshot->devices);
    memory_free(snapshot->path);
    frame_labels_clear(&snapshot->labels);
    pickle_clear(&snapshot->pickle);
    memory_free(snapshot);
}

size_t snapshot_memory(const struct snapshot *snapshot)
{
    size_t bytes = values_memory(&snapshot->pickle.values) +
                   frame_labels_memory(&snapshot->labels, &snapshot->pickle.values);
    for (size_t i = 0; i < snapshot->device_count; i++) {
        const struct memory_device *device = &snapshot->devices[i];
        bytes += sizeof *device + device->event_count * sizeof *device->events +
                 device->segment_count * sizeof *device->segments +
                 device->allocation_count * sizeof *device->allocations +
                 device->change_count * sizeof *device->changes;
    }
    return bytes;
}
