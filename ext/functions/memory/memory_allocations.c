/*
** memory_allocations: the allocations of an allocator's snapshot, with beginning and end.
*/
#include "text/number.h"
#include "snapshot_rows.h"

enum {
    ALLOCATIONS_RANK,
    ALLOCATIONS_DEVICE,
    ALLOCATIONS_ADDR,
    ALLOCATIONS_BYTES,
    ALLOCATIONS_ALLOC_EVENT,
    ALLOCATIONS_FREE_EVENT,
    ALLOCATIONS_ALLOC_US,
    ALLOCATIONS_FREE_US,
    ALLOCATIONS_LIFETIME,
    ALLOCATIONS_AT_PEAK,
    ALLOCATIONS_PHASE,
    ALLOCATIONS_ANNOTATION,
    ALLOCATIONS_FUNCTION,
    ALLOCATIONS_PLACE,
    ALLOCATIONS_OP,
    ALLOCATIONS_TOP_OP,
    ALLOCATIONS_NODE,
    ALLOCATIONS_FILE
};

static const struct table_column columns_of_allocations[] = {
    [ALLOCATIONS_RANK] = {"rank", "INTEGER",
        "rank in the file's name, else the file's position in the order"},
    [ALLOCATIONS_DEVICE] = {"device", "INTEGER",
                            "number of the device; -1: pinned memory of the host"},
    [ALLOCATIONS_ADDR] = {"addr", "INTEGER", "address"},
    [ALLOCATIONS_BYTES] = {"bytes", "INTEGER", "bytes that the program requested"},
    [ALLOCATIONS_ALLOC_EVENT] = {"alloc_event", "INTEGER",
                                 "event that allocates it; NULL: allocated before the first event"},
    [ALLOCATIONS_FREE_EVENT] = {"free_event", "INTEGER",
                                "event that frees it; NULL: alive at the end"},
    [ALLOCATIONS_ALLOC_US] = {"alloc_us", "INTEGER", "us since 1970, time of alloc_event"},
    [ALLOCATIONS_FREE_US] = {"free_us", "INTEGER", "us since 1970, time of free_event"},
    [ALLOCATIONS_LIFETIME] = {"lifetime_us", "INTEGER",
        "us from alloc_us to free_us; NULL if either is NULL"},
    [ALLOCATIONS_AT_PEAK] = {"at_peak", "INTEGER", "1 if alive at the peak of the device, else 0"},
    [ALLOCATIONS_PHASE] = {"phase", "TEXT",
                           "'forward', 'backward', 'optimizer', 'before' (allocated before the "
                           "first event) or 'unknown' (without frames)"},
    [ALLOCATIONS_ANNOTATION] = {"annotation", "TEXT", "innermost annotation around the allocation"},
    [ALLOCATIONS_FUNCTION] = {"function", "TEXT", "file and name of the user's innermost frame"},
    [ALLOCATIONS_PLACE] = {"place", "TEXT", "file, line and name of the user's innermost frame"},
    [ALLOCATIONS_OP] = {"op", "TEXT", "operator that allocates"},
    [ALLOCATIONS_TOP_OP] = {"top_op", "TEXT", "outermost operator"},
    [ALLOCATIONS_NODE] = {"node", "TEXT", "autograd node, such as AddmmBackward0"},
    [ALLOCATIONS_FILE] = {"file", "TEXT", "path"},
};

static const struct argument arguments_of_allocations[] = {SNAPSHOT_ARGUMENTS};

static size_t allocations_size(const struct memory_device *device)
{
    return device->allocation_count;
}

static int give_label(struct connection *connection, const struct snapshot_part *part,
                      const struct memory_allocation *allocation, int column,
                      sqlite3_context *context, struct failure *failure)
{
    connection_begin_work(connection);
    const struct stack_label *label = allocation_label(part->snapshot, allocation, failure);
    connection_end_work(connection);
    if (!label)
        return failure->code == FAILURE_MEMORY ? SQLITE_NOMEM : SQLITE_ERROR;
    uint32_t id = column == ALLOCATIONS_FUNCTION ? label->function
                  : column == ALLOCATIONS_PLACE  ? label->place
                  : column == ALLOCATIONS_OP     ? label->op
                  : column == ALLOCATIONS_TOP_OP ? label->top_op
                                                 : label->node;
    if (column == ALLOCATIONS_PHASE)
        sqlite3_result_text(
            context, memory_phase_name(allocation->begin == 0 ? PHASE_BEFORE : label->phase), -1,
            SQLITE_STATIC);
    else
        give_name(context, id == NAME_NONE ? NULL : &part->snapshot->labels.names.items[id]);
    return SQLITE_OK;
}

static void give_time(const struct snapshot_part *part, const struct memory_allocation *allocation,
                      int column, sqlite3_context *context)
{
    int64_t begin = allocation->begin == 0 ? NUMBER_NONE : (int64_t)allocation->begin - 1;
    int64_t end = allocation->end == ALLOCATION_OPEN ? NUMBER_NONE : (int64_t)allocation->end - 1;
    int64_t begin_us = event_time(part->snapshot, part->device, begin);
    int64_t end_us = event_time(part->snapshot, part->device, end);
    bool timed = begin_us != NUMBER_NONE && end_us != NUMBER_NONE;
    give_number(context, column == ALLOCATIONS_ALLOC_EVENT  ? begin
                         : column == ALLOCATIONS_FREE_EVENT ? end
                         : column == ALLOCATIONS_ALLOC_US   ? begin_us
                         : column == ALLOCATIONS_FREE_US    ? end_us
                         : timed /* wraps around only if the times are invalid */
                             ? (int64_t)((uint64_t)end_us - (uint64_t)begin_us)
                             : NUMBER_NONE);
}

static int allocations_column(struct rows *rows, struct row_scan *scan,
                              const struct position *position, int column,
                              sqlite3_context *context, struct failure *failure)
{
    const struct snapshot_part *part = snapshot_rows_part(rows, position->row);
    const struct memory_device *device = part->device;
    const struct memory_allocation *allocation =
        &device->allocations[position->row - part->first];
    uint32_t id;
    (void)scan;
    switch (column) {
    case ALLOCATIONS_RANK:
        sqlite3_result_int64(context, part->rank);
        break;
    case ALLOCATIONS_DEVICE:
        sqlite3_result_int64(context, device->number);
        break;
    case ALLOCATIONS_ADDR:
        sqlite3_result_int64(context, allocation->address);
        break;
    case ALLOCATIONS_BYTES:
        sqlite3_result_int64(context, allocation->bytes);
        break;
    case ALLOCATIONS_ALLOC_EVENT:
    case ALLOCATIONS_FREE_EVENT:
    case ALLOCATIONS_ALLOC_US:
    case ALLOCATIONS_FREE_US:
    case ALLOCATIONS_LIFETIME:
        give_time(part, allocation, column, context);
        break;
    case ALLOCATIONS_AT_PEAK:
        sqlite3_result_int(context, allocation_alive(allocation, device->peak_event));
        break;
    case ALLOCATIONS_ANNOTATION:
        id = allocation_annotation(part->snapshot, device, allocation);
        give_name(context,
                  id == NAME_NONE ? NULL : &part->snapshot->pickle.values.texts.items[id]);
        break;
    case ALLOCATIONS_FILE:
        return give_path(context, part->snapshot);
    default:
        return give_label(((struct snapshot_rows *)rows)->connection, part, allocation, column,
                          context, failure);
    }
    return SQLITE_OK;
}

static int allocations_produce(struct call *call, struct rows **rows)
{
    static const struct rows_methods methods = {.column = allocations_column,
                                                .destroy = snapshot_rows_destroy};
    return snapshot_rows_make(call, &methods, allocations_size, NULL, rows);
}

const struct table_function memory_allocations_function = {
    .name = "memory_allocations",
    .family = FAMILY_MEMORY,
    .question = "What was allocated, by whom, and from when to when?",
    .text = "the allocations in allocator snapshots, one row per allocation",
    COLUMNS(columns_of_allocations),
    ARGUMENTS(arguments_of_allocations),
    .produce = allocations_produce,
};
