/*
** memory_segments: the segments of the allocator at the end of a snapshot.
*/
#include <string.h>

#include "chart/writer.h"
#include "text/ascii.h"
#include "text/number.h"
#include "call_snapshot.h"

static const struct table_column columns_of_segments[] = {
    {"rank", "INTEGER", "rank in the file's name, else the file's position in the order"},
    {"device", "INTEGER", "number of the device; -1: pinned memory of the host"},
    {"address", "INTEGER", "start address"},
    {"stream", "INTEGER", "stream that it was allocated for"},
    {"total_size", "INTEGER", "bytes"},
    {"allocated_size", "INTEGER", "bytes in allocated blocks"},
    {"active_size", "INTEGER", "bytes in blocks that are allocated or wait to be freed"},
    {"requested_size", "INTEGER", "bytes that the program requested in these blocks"},
    {"largest_free", "INTEGER", "bytes of the largest free block; 0: none"},
    {"blocks", "INTEGER", "number of blocks"},
    {"active_blocks", "INTEGER", "number of active blocks"},
    {"segment_type", "TEXT", "'small' or 'large'"},
    {"pool", "TEXT", "JSON array, id of the memory pool; [0,0] is the default pool"},
    {"is_expandable", "INTEGER", "1 for an expandable segment, else 0"},
    {"file", "TEXT", "path"},
};

static const struct argument arguments_of_segments[] = {SNAPSHOT_ARGUMENTS};

static void add_number(struct result *result, const struct values *values, pickled dict,
                       enum snapshot_key key)
{
    int64_t number;
    bool known = values_number(values, values_field(values, dict, key), &number);
    result_number(result, known ? number : NUMBER_NONE);
}

/* Adds the properties of the blocks in a segment. */
static void add_blocks(struct result *result, const struct values *values, pickled segment)
{
    struct value_walk walk = values_walk(values, values_field(values, segment, KEY_BLOCKS));
    int64_t largest = 0, blocks = 0, active = 0, size;
    pickled block;
    while ((block = walk_next(&walk)) != 0) {
        const struct name *state = values_name(values, values_field(values, block, KEY_STATE));
        blocks++;
        if (state && begins(state->text, state->text + state->length, "active"))
            active++;
        else if (values_number(values, values_field(values, block, KEY_SIZE), &size) &&
                 size > largest)
            largest = size;
    }
    result_integer(result, largest);
    result_integer(result, blocks);
    result_integer(result, active);
}

enum { LONGEST_POOL = 16 }; /* an id has two numbers, and all segments may share one tuple */

static void add_pool(struct result *result, const struct values *values, pickled pool)
{
    struct value_walk walk = values_walk(values, pool);
    struct writer text = {0};
    pickled item;
    for (int i = 0; i < LONGEST_POOL && (item = walk_next(&walk)) != 0; i++) {
        int64_t number = 0;
        values_number(values, item, &number);
        write_string(&text, i ? "," : "[");
        write_integer(&text, number);
    }
    if (text.length > 0)
        write_string(&text, "]");
    if (text.failed)
        result_lost(result);
    else
        result_text(result, text.bytes, text.length);
    writer_clear(&text);
}

static bool add_segments(struct call *call, struct snapshot *snapshot, int64_t rank, void *to)
{
    static const enum snapshot_key sizes[] = {KEY_ADDRESS,        KEY_STREAM,
                                              KEY_TOTAL_SIZE,     KEY_ALLOCATED_SIZE,
                                              KEY_ACTIVE_SIZE,    KEY_REQUESTED_SIZE};
    struct result *result = to;
    const struct values *values = &snapshot->pickle.values;
    for (size_t d = 0; d < snapshot->device_count; d++)
        for (size_t i = 0; i < snapshot->devices[d].segment_count; i++) {
            pickled segment = pickled_of(PICKLED_DICT, snapshot->devices[d].segments[i]);
            pickled expandable = values_field(values, segment, KEY_IS_EXPANDABLE);
            const struct name *type =
                values_name(values, values_field(values, segment, KEY_SEGMENT_TYPE));
            if (!stopper_ask(call_stopper(call), &call->failure))
                return false;
            result_integer(result, rank);
            result_integer(result, snapshot->devices[d].number);
            for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
                add_number(result, values, segment, sizes[k]);
            add_blocks(result, values, segment);
            result_text(result, type ? type->text : NULL, type ? type->length : 0);
            add_pool(result, values, values_field(values, segment, KEY_SEGMENT_POOL_ID));
            result_number(result,
                          expandable ? expandable == pickled_of(PICKLED_BOOL, 1) : NUMBER_NONE);
            result_repaired(result, snapshot->path, strlen(snapshot->path));
        }
    return true;
}

static int segments_produce(struct call *call, struct rows **rows)
{
    return call_snapshot_rows(call, rows, add_segments);
}

const struct table_function memory_segments_function = {
    .name = "memory_segments",
    .family = FAMILY_MEMORY,
    .question = "How much reserved memory is free or in fragments?",
    .text = "the segments in allocator snapshots, one row per segment",
    COLUMNS(columns_of_segments),
    ARGUMENTS(arguments_of_segments),
    .produce = segments_produce,
};
