#include "lifetimes.h"

#include "text/ascii.h"
#include "base/memory.h"
#include "base/hash.h"

/* The state while the events of a device are processed. */
struct lifetimes {
    struct snapshot *snapshot;
    struct memory_device *device;
    struct address {
        int64_t address;
        uint32_t allocation; /* index plus 1, as in slot_of() */
    } * addresses;
    size_t address_count, address_capacity;
    struct table table; /* finds slots */
    const struct stopper *stopper;
    struct failure *failure;
    int64_t before;          /* bytes of allocations before the first event (M5) */
    int64_t bytes, most;     /* bytes from the events so far; their maximum, at least 0 */
    int64_t reserved;        /* bytes reserved since the first event */
    int64_t reserved_then;   /* `reserved` at the peak */
};

static uint64_t hash_of_number(int64_t address)
{
    return hash_with(hash_key(), (uint64_t)address);
}

static uint64_t hash_of_address(const void *lifetimes, uint32_t i)
{
    return hash_of_number(((const struct lifetimes *)lifetimes)->addresses[i].address);
}

struct address_key {
    const struct lifetimes *lifetimes;
    int64_t address;
};

static bool is_address(const void *key, uint32_t i)
{
    const struct address_key *wanted = key;
    return wanted->lifetimes->addresses[i].address == wanted->address;
}

static bool add_bytes(struct lifetimes *lifetimes, int64_t *sum, int64_t bytes)
{
    return !__builtin_add_overflow(*sum, bytes, sum) ||
           failure_set(lifetimes->failure, FAILURE_DAMAGE,
                       "'%s': a sum of bytes is beyond 64 bits", lifetimes->snapshot->path);
}

/* The index of the latest allocation at an address plus 1; 0: none. NULL if out of memory. */
static uint32_t *slot_of(struct lifetimes *lifetimes, int64_t address)
{
    const struct address_key key = {lifetimes, address};
    if (!table_reserve(&lifetimes->table, lifetimes->address_count, hash_of_address, lifetimes) ||
        !MEMORY_GROW(lifetimes->addresses, lifetimes->address_capacity,
                     lifetimes->address_count + 1)) {
        failure_memory(lifetimes->failure);
        return NULL;
    }
    uint32_t *slot =
        table_slot(&lifetimes->table, hash_of_number(address), is_address, &key);
    if (*slot == 0) {
        lifetimes->addresses[lifetimes->address_count] = (struct address){address, 0};
        *slot = (uint32_t)++lifetimes->address_count;
    }
    return &lifetimes->addresses[*slot - 1].allocation;
}

/* The open allocation of a slot, or NULL. */
static struct memory_allocation *open_of(struct memory_device *device, const uint32_t *slot)
{
    struct memory_allocation *found = *slot ? &device->allocations[*slot - 1] : NULL;
    return found && found->end == ALLOCATION_OPEN ? found : NULL;
}

static bool add_allocation(struct lifetimes *lifetimes, uint32_t *slot,
                           struct memory_allocation allocation)
{
    struct memory_device *device = lifetimes->device;
    if (!MEMORY_GROW(device->allocations, device->allocation_capacity,
                     device->allocation_count + 1))
        return failure_memory(lifetimes->failure);
    device->allocations[device->allocation_count++] = allocation;
    *slot = (uint32_t)device->allocation_count;
    return true;
}

/* The id of the frame list of an event or block. */
static uint32_t frames_of(const struct lifetimes *lifetimes, pickled dict)
{
    pickled frames = values_field(&lifetimes->snapshot->pickle.values, dict, KEY_FRAMES);
    enum pickled_kind kind = pickled_kind(frames);
    return kind == PICKLED_LIST || kind == PICKLED_TUPLE ? pickled_id(frames) : NODE_NONE;
}

/* Applies M4 to an alloc. */
static bool begin_allocation(struct lifetimes *lifetimes, size_t event, pickled dict,
                             int64_t address, int64_t bytes)
{
    struct memory_device *device = lifetimes->device;
    uint32_t *slot = slot_of(lifetimes, address), now = (uint32_t)event + 1;
    struct memory_allocation *open = slot ? open_of(device, slot) : NULL;
    if (open) {
        open->end = now;
        device->problems[MEMORY_TWICE]++;
        lifetimes->bytes -= open->bytes;
    }
    return slot && add_bytes(lifetimes, &lifetimes->bytes, bytes) &&
           add_allocation(lifetimes, slot,
                          (struct memory_allocation){.address = address,
                                                     .bytes = bytes,
                                                     .begin = now,
                                                     .end = ALLOCATION_OPEN,
                                                     .frames = frames_of(lifetimes, dict)});
}

/* Applies M4 and M5 to a free. */
static bool end_allocation(struct lifetimes *lifetimes, size_t event, int64_t address,
                           int64_t bytes)
{
    uint32_t *slot = slot_of(lifetimes, address), now = (uint32_t)event + 1;
    struct memory_allocation *open = slot ? open_of(lifetimes->device, slot) : NULL;
    if (open) {
        open->end = now;
        return add_bytes(lifetimes, &lifetimes->bytes, -open->bytes);
    }
    return slot && add_bytes(lifetimes, &lifetimes->before, bytes) &&
           add_bytes(lifetimes, &lifetimes->bytes, -bytes) &&
           add_allocation(lifetimes, slot,
                          (struct memory_allocation){.address = address,
                                                     .bytes = bytes,
                                                     .begin = 0,
                                                     .end = now,
                                                     .frames = NODE_NONE});
}

/* Reads a required nonnegative number of an event, segment or block. Errors name `what` and `i`. */
static bool memory_number(const struct snapshot *snapshot, const struct memory_device *device,
                          const char *what, size_t i, pickled dict, enum snapshot_key key,
                          int64_t *number, struct failure *failure)
{
    const struct values *values = &snapshot->pickle.values;
    if (values_number(values, values_field(values, dict, key), number) && *number >= 0)
        return true;
    return failure_set(failure, FAILURE_DAMAGE,
                       "'%s': %s %lld of device %lld has no '%s' that is an integer of 0 or more",
                       snapshot->path, what, (long long)i, (long long)device->number,
                       values->texts.items[key].text);
}

static bool take_event(struct lifetimes *lifetimes, size_t event)
{
    const struct snapshot *snapshot = lifetimes->snapshot;
    struct memory_device *device = lifetimes->device;
    pickled dict = pickled_of(PICKLED_DICT, device->events[event]);
    pickled action = values_field(&snapshot->pickle.values, dict, KEY_ACTION);
    uint32_t word = pickled_kind(action) == PICKLED_TEXT ? pickled_id(action) : UINT32_MAX;
    int64_t address, bytes;
    if (word < WORD_ALLOC || word > WORD_SEGMENT_UNMAP)
        return true;
    if (!memory_number(snapshot, device, "event", event, dict, KEY_SIZE, &bytes,
                       lifetimes->failure) ||
        !memory_number(snapshot, device, "event", event, dict, KEY_ADDR, &address,
                       lifetimes->failure))
        return false;
    switch (word) {
    case WORD_ALLOC:
        return begin_allocation(lifetimes, event, dict, address, bytes);
    case WORD_FREE_COMPLETED:
        return end_allocation(lifetimes, event, address, bytes);
    case WORD_SEGMENT_ALLOC:
    case WORD_SEGMENT_MAP:
        return add_bytes(lifetimes, &lifetimes->reserved, bytes);
    case WORD_SEGMENT_FREE:
    case WORD_SEGMENT_UNMAP:
        return add_bytes(lifetimes, &lifetimes->reserved, -bytes);
    default:
        return true;
    }
}

static bool take_events(struct lifetimes *lifetimes)
{
    struct memory_device *device = lifetimes->device;
    device->peak_event = -1;
    for (size_t i = 0; i < device->event_count; i++) {
        if (!stopper_goes_on(lifetimes->stopper, i, lifetimes->failure) ||
            !take_event(lifetimes, i))
            return false;
        if (lifetimes->bytes > lifetimes->most) {
            lifetimes->most = lifetimes->bytes;
            lifetimes->reserved_then = lifetimes->reserved;
            device->peak_event = (int64_t)i;
        }
    }
    return true;
}

/* Compares an active block with the open allocations (M5, M6). */
static bool take_block(struct lifetimes *lifetimes, pickled block, int64_t address, int64_t bytes)
{
    struct memory_device *device = lifetimes->device;
    uint32_t *slot = slot_of(lifetimes, address);
    struct memory_allocation *open = slot ? open_of(device, slot) : NULL;
    if (!open)
        return slot && add_bytes(lifetimes, &lifetimes->before, bytes) &&
               add_allocation(lifetimes, slot,
                              (struct memory_allocation){.address = address,
                                                         .bytes = bytes,
                                                         .begin = 0,
                                                         .end = ALLOCATION_OPEN,
                                                         .frames = frames_of(lifetimes, block),
                                                         .in_block = true});
    device->problems[MEMORY_TWO_BLOCKS] += open->in_block;
    device->problems[MEMORY_DIFFERS] += !open->in_block && open->bytes != bytes;
    open->in_block = true;
    return true;
}

/* Processes a segment's blocks. Old versions write them without address and requested size. */
static bool take_segment(struct lifetimes *lifetimes, size_t i)
{
    const struct snapshot *snapshot = lifetimes->snapshot;
    const struct memory_device *device = lifetimes->device;
    const struct values *values = &snapshot->pickle.values;
    struct failure *failure = lifetimes->failure;
    pickled segment = pickled_of(PICKLED_DICT, device->segments[i]), block;
    struct value_walk walk = values_walk(values, values_field(values, segment, KEY_BLOCKS));
    int64_t next, total, bytes, size;
    if (!memory_number(snapshot, device, "segment", i, segment, KEY_ADDRESS, &next, failure) ||
        !memory_number(snapshot, device, "segment", i, segment, KEY_TOTAL_SIZE, &total, failure) ||
        !add_bytes(lifetimes, &lifetimes->device->end_reserved, total))
        return false;
    struct value_walk blocks = walk;
    if (device->number == MEMORY_OF_HOST && walk_next(&blocks) == 0 &&
        values_number(values, values_field(values, segment, KEY_ACTIVE_SIZE), &bytes) && bytes > 0)
        return take_block(lifetimes, segment, next, bytes); /* M3.4 */
    for (size_t n = 0; (block = walk_next(&walk)) != 0; n++) {
        const struct name *state = values_name(values, values_field(values, block, KEY_STATE));
        enum snapshot_key sized = values_field(values, block, KEY_REQUESTED_SIZE)
                                      ? KEY_REQUESTED_SIZE
                                      : KEY_SIZE;
        int64_t address = next;
        if (!stopper_goes_on(lifetimes->stopper, n, failure) ||
            !snapshot_count(lifetimes->snapshot, failure))
            return false;
        if (values_field(values, block, KEY_ADDRESS) &&
            !memory_number(snapshot, device, "a block of segment", i, block, KEY_ADDRESS, &address,
                           failure))
            return false;
        if (!memory_number(snapshot, device, "a block of segment", i, block, KEY_SIZE, &size,
                           failure) ||
            !memory_number(snapshot, device, "a block of segment", i, block, sized, &bytes,
                           failure))
            return false;
        next = address;
        if (!add_bytes(lifetimes, &next, size))
            return false;
        if (state && begins(state->text, state->text + state->length, "active") &&
            !take_block(lifetimes, block, address, bytes))
            return false;
    }
    return true;
}

/* Sums up the live allocations at the peak and at the end. */
static bool sum_up(struct lifetimes *lifetimes)
{
    struct memory_device *device = lifetimes->device;
    device->peak_bytes = device->end_bytes = lifetimes->before;
    device->reserved_before = device->peak_reserved = device->end_reserved;
    if (!add_bytes(lifetimes, &device->peak_bytes, lifetimes->most) ||
        !add_bytes(lifetimes, &device->end_bytes, lifetimes->bytes) ||
        !add_bytes(lifetimes, &device->reserved_before, -lifetimes->reserved))
        return false;
    device->peak_reserved = device->reserved_before;
    for (size_t i = 0; i < device->allocation_count; i++) {
        const struct memory_allocation *allocation = &device->allocations[i];
        device->peak_blocks += allocation_alive(allocation, device->peak_event);
        device->problems[MEMORY_NO_BLOCK] +=
            allocation->end == ALLOCATION_OPEN && !allocation->in_block;
    }
    return add_bytes(lifetimes, &device->peak_reserved, lifetimes->reserved_then);
}

bool lifetimes_find(struct snapshot *snapshot, struct memory_device *device,
                    const struct stopper *stopper, struct failure *failure)
{
    struct lifetimes lifetimes = {
        .snapshot = snapshot, .device = device, .stopper = stopper, .failure = failure};
    bool done = take_events(&lifetimes);
    for (size_t i = 0; done && i < device->segment_count; i++)
        done = stopper_goes_on(stopper, i, failure) && take_segment(&lifetimes, i);
    done = done && sum_up(&lifetimes);
    memory_free(lifetimes.addresses);
    table_clear(&lifetimes.table);
    return done;
}
