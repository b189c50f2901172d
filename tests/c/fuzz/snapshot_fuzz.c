/*
** A fuzz target for snapshots of an allocator: one file, read plain and packed, with what follows
** from it, which must agree and make sense.
**
** An input is two bytes of options and then the pickle:
**   1. gzip members (two bits), and whether a failing allocation is followed by more (one bit)
**   2. which allocation fails
*/
#include "fuzz.h" /* first: it says what the system's headers are to declare */

#include "snapshot/annotated.h"
#include "snapshot/snapshot_load.h"

static void put_name(struct text *text, const struct names *names, uint32_t id)
{
    put_number(text, id != NAME_NONE);
    if (id != NAME_NONE)
        put_array(text, names->items[id].text, names->items[id].length, 1);
}

/* The allocations of a device add up to its peak and to what is there at the end. */
static void put_device(struct text *text, struct snapshot *snapshot,
                       const struct memory_device *device, struct failure *failure)
{
    int64_t peak = 0, end = 0, blocks = 0;
    for (size_t i = 0; i < device->allocation_count; i++) {
        const struct memory_allocation *allocation = &device->allocations[i];
        bool alive = allocation_alive(allocation, device->peak_event);
        peak += alive ? allocation->bytes : 0;
        blocks += alive;
        end += allocation->end == ALLOCATION_OPEN ? allocation->bytes : 0;
        MUST(allocation->begin < allocation->end && allocation->begin <= device->event_count);
        const struct stack_label *label = allocation_label(snapshot, allocation, failure);
        if (!label)
            return;
        put_number(text, allocation->bytes);
        put_number(text, label->phase);
        put_name(text, &snapshot->labels.names, label->place);
        put_name(text, &snapshot->labels.names, label->op);
        put_name(text, &snapshot->labels.names, label->node);
        put_name(text, &snapshot->pickle.values.texts,
                 allocation_annotation(snapshot, device, allocation));
    }
    MUST(peak == device->peak_bytes && blocks == device->peak_blocks && end == device->end_bytes);
    int64_t reserved = device->reserved_before;
    for (size_t i = 0; i < device->event_count; i++)
        reserved += event_reserves(snapshot, device, i);
    MUST(reserved == device->end_reserved);
    put_number(text, device->peak_event);
    put_number(text, device->peak_reserved);
    for (int i = 0; i < MEMORY_PROBLEMS; i++)
        put_number(text, device->problems[i]);
}

/* Reads the file; `text` becomes what it says, or the code of the failure. */
static void read_snapshot(struct text *text)
{
    struct failure failure = {0};
    struct stopper stopper = {.stop = NULL};
    struct snapshot *snapshot = snapshot_load(path, &stopper, &failure);
    MUST((snapshot != NULL) == (failure.code == FAILURE_NONE));
    MUST(failure.code != FAILURE_MEMORY || fail_at > 0);
    for (size_t i = 0; snapshot && i < snapshot->device_count; i++)
        put_device(text, snapshot, &snapshot->devices[i], &failure);
    put_number(text, failure.code);
    MUST(!snapshot || snapshot_memory(snapshot) > 0);
    snapshot_release(snapshot);
    failure_clear(&failure);
    MUST(live == 0);
}

/* Such a file is unpacked, and is then no pickle; the same bytes in a gzip file are unpacked
** once. */
static bool begins_packed(const unsigned char *bytes, size_t length)
{
    return length >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    if (size < 2)
        return 0;
    struct text packed = compressed(data + 2, size - 2, (data[0] & 3) + 1);
    struct text once = {0}, twice = {0}, lost = {0};
    write_file(data + 2, size - 2);
    read_snapshot(&once);
    fail_on = data[0] >> 2 & 1;
    asked = 0;
    fail_at = data[1] + 1;
    read_snapshot(&lost);
    fail_at = 0;
    write_file(packed.bytes, packed.length);
    read_snapshot(&twice);
    MUST(same(&once, &twice) || begins_packed(data + 2, size - 2));
    free(once.bytes);
    free(twice.bytes);
    free(lost.bytes);
    free(packed.bytes);
    return 0;
}
