/*
** memory_events: the events of an allocator's snapshot.
*/
#include "chart/writer.h"
#include "base/memory.h"
#include "text/number.h"
#include "snapshot_rows.h"

enum {
    EVENTS_RANK,
    EVENTS_DEVICE,
    EVENTS_EVENT,
    EVENTS_ACTION,
    EVENTS_ADDR,
    EVENTS_SIZE,
    EVENTS_STREAM,
    EVENTS_TIME_US,
    EVENTS_ALLOCATED,
    EVENTS_RESERVED,
    EVENTS_CONTEXT,
    EVENTS_METADATA,
    EVENTS_FRAMES,
    EVENTS_FILE,
    EVENTS_COLUMNS
};

static const struct table_column columns_of_events[] = {
    [EVENTS_RANK] = {"rank", "INTEGER",
        "rank in the file's name, else the file's position in the order"},
    [EVENTS_DEVICE] = {"device", "INTEGER", "number of the device; -1: pinned memory of the host"},
    [EVENTS_EVENT] = {"event", "INTEGER", "number of the event on its device, from 0"},
    [EVENTS_ACTION] = {"action", "TEXT",
                       "action, such as alloc, free_requested, free_completed or segment_alloc"},
    [EVENTS_ADDR] = {"addr", "INTEGER", "address"},
    [EVENTS_SIZE] = {"size", "INTEGER",
        "bytes; for allocations and frees, the bytes that the program requested"},
    [EVENTS_STREAM] = {"stream", "INTEGER", "stream"},
    [EVENTS_TIME_US] = {"time_us", "INTEGER", "us since 1970; NULL in old files"},
    [EVENTS_ALLOCATED] = {"allocated", "INTEGER", "bytes allocated after this event"},
    [EVENTS_RESERVED] = {"reserved", "INTEGER", "bytes reserved after this event"},
    [EVENTS_CONTEXT] = {"compile_context", "TEXT", "what torch.compile was doing"},
    [EVENTS_METADATA] = {"user_metadata", "TEXT", "text that the program set"},
    [EVENTS_FRAMES] = {"frames", "TEXT",
                       "JSON array of {name, filename, line}, innermost first; NULL if not "
                       "recorded"},
    [EVENTS_FILE] = {"file", "TEXT", "path"},
};

static const unsigned char served_of_events[EVENTS_COLUMNS] = {
    [EVENTS_ALLOCATED] = ON_DEMAND, [EVENTS_RESERVED] = ON_DEMAND};

static const struct argument arguments_of_events[] = {SNAPSHOT_ARGUMENTS};

static size_t events_size(const struct memory_device *device)
{
    return device->event_count;
}

/* Sums up sizes, or reserved memory, if the query needs the sums. */
static bool prepare_events(struct call *call, struct snapshot_part *part)
{
    const struct memory_device *device = part->device;
    size_t count = device->event_count;
    int64_t allocated = 0, reserved = device->reserved_before;
    for (int i = 0; i < 2; i++) {
        if (!call_wants(call, EVENTS_ALLOCATED + i))
            continue;
        part->sums[i] = memory_zeroed(count, sizeof *part->sums[i]);
        if (!part->sums[i])
            return failure_memory(&call->failure);
    }
    for (size_t i = 0; part->sums[0] && i < device->allocation_count; i++) {
        if (!stopper_goes_on(call_stopper(call), i, &call->failure))
            return false;
        const struct memory_allocation *allocation = &device->allocations[i];
        if (allocation->begin > 0)
            part->sums[0][allocation->begin - 1] += allocation->bytes;
        else
            allocated += allocation->bytes;
        if (allocation->end != ALLOCATION_OPEN)
            part->sums[0][allocation->end - 1] -= allocation->bytes;
    }
    for (size_t i = 0; part->sums[0] && i < count; i++)
        part->sums[0][i] = allocated += part->sums[0][i];
    for (size_t i = 0; part->sums[1] && i < count; i++) {
        if (!stopper_goes_on(call_stopper(call), i, &call->failure))
            return false;
        part->sums[1][i] = reserved += event_reserves(part->snapshot, device, i);
    }
    return true;
}

static void write_text_of(struct writer *writer, const struct values *values, pickled text)
{
    const struct name *name = values_name(values, text);
    write_json(writer, name ? name->text : "", name ? name->length : 0);
}

enum { LONGEST_FRAMES = 16 << 20 /* bytes: shared lists and texts can multiply the size */ };

static int give_frames(sqlite3_context *context, const struct values *values, pickled frames)
{
    struct value_walk walk = values_walk(values, frames);
    struct writer writer = {0};
    pickled frame;
    for (int i = 0; (frame = walk_next(&walk)) != 0 && writer.length <= LONGEST_FRAMES; i++) {
        int64_t line = 0;
        values_number(values, values_field(values, frame, KEY_LINE), &line);
        write_string(&writer, i ? ",{\"name\":" : "[{\"name\":");
        write_text_of(&writer, values, values_field(values, frame, KEY_NAME));
        write_string(&writer, ",\"filename\":");
        write_text_of(&writer, values, values_field(values, frame, KEY_FILENAME));
        write_string(&writer, ",\"line\":");
        write_integer(&writer, line);
        write_string(&writer, "}");
    }
    if (writer.length > 0)
        write_string(&writer, "]");
    bool failed = writer.failed;
    if (writer.length > 0 && writer.length <= LONGEST_FRAMES && !failed)
        sqlite3_result_text64(context, writer.bytes, writer.length, SQLITE_TRANSIENT, SQLITE_UTF8);
    else
        sqlite3_result_null(context);
    writer_clear(&writer);
    return failed ? SQLITE_NOMEM : SQLITE_OK;
}

static int events_column(struct rows *rows, struct row_scan *scan, const struct position *position,
                         int column, sqlite3_context *context, struct failure *failure)
{
    static const unsigned char keys[EVENTS_COLUMNS] = {
        [EVENTS_ACTION] = KEY_ACTION,           [EVENTS_ADDR] = KEY_ADDR,
        [EVENTS_SIZE] = KEY_SIZE,               [EVENTS_STREAM] = KEY_STREAM,
        [EVENTS_TIME_US] = KEY_TIME_US,         [EVENTS_CONTEXT] = KEY_COMPILE_CONTEXT,
        [EVENTS_METADATA] = KEY_USER_METADATA, [EVENTS_FRAMES] = KEY_FRAMES};
    const struct snapshot_part *part = snapshot_rows_part(rows, position->row);
    const struct values *values = &part->snapshot->pickle.values;
    size_t event = (size_t)(position->row - part->first);
    pickled value =
        keys[column] ? event_field(part->snapshot, part->device, event, keys[column]) : 0;
    int64_t number;
    (void)scan;
    (void)failure;
    switch (column) {
    case EVENTS_RANK:
        sqlite3_result_int64(context, part->rank);
        break;
    case EVENTS_DEVICE:
        sqlite3_result_int64(context, part->device->number);
        break;
    case EVENTS_EVENT:
        sqlite3_result_int64(context, (int64_t)event);
        break;
    case EVENTS_ALLOCATED:
    case EVENTS_RESERVED:
        give_number(context, part->sums[column - EVENTS_ALLOCATED]
                                 ? part->sums[column - EVENTS_ALLOCATED][event]
                                 : NUMBER_NONE);
        break;
    case EVENTS_ACTION:
    case EVENTS_CONTEXT:
    case EVENTS_METADATA:
        give_name(context, values_name(values, value));
        break;
    case EVENTS_FRAMES:
        return give_frames(context, values, value);
    case EVENTS_FILE:
        return give_path(context, part->snapshot);
    default:
        give_number(context, values_number(values, value, &number) ? number : NUMBER_NONE);
    }
    return SQLITE_OK;
}

static int events_produce(struct call *call, struct rows **rows)
{
    static const struct rows_methods methods = {.column = events_column,
                                                .destroy = snapshot_rows_destroy};
    return snapshot_rows_make(call, &methods, events_size, prepare_events, rows);
}

const struct table_function memory_events_function = {
    .name = "memory_events",
    .family = FAMILY_MEMORY,
    .question = "What did the allocator do, event by event?",
    .text = "the events in allocator snapshots, one row per event",
    COLUMNS(columns_of_events),
    ARGUMENTS(arguments_of_events),
    .serves = served_of_events,
    .produce = events_produce,
};
