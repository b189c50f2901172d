/*
** memory_files: the files of allocators' snapshots and their devices.
*/
#include <string.h>

#include "chart/writer.h"
#include "text/number.h"
#include "call_snapshot.h"

static const struct table_column columns_of_files[] = {
    {"file", "TEXT", "path"},
    {"rank", "INTEGER", "rank in the file's name, else the file's position in the order"},
    {"device", "INTEGER",
     "number of the device; -1: pinned memory of the host; NULL if the file cannot be read"},
    {"events", "INTEGER", "number of events"},
    {"allocations", "INTEGER", "number of rows of memory_allocations"},
    {"peak_bytes", "INTEGER", "bytes allocated at the peak"},
    {"peak_blocks", "INTEGER", "number of allocations alive at the peak"},
    {"peak_event", "INTEGER", "event after which the peak is reached; -1: before the first"},
    {"peak_us", "INTEGER", "us since 1970, time of that event"},
    {"peak_reserved", "INTEGER", "bytes reserved at the peak"},
    {"end_bytes", "INTEGER", "bytes allocated at the end"},
    {"end_reserved", "INTEGER", "bytes reserved at the end"},
    {"first_us", "INTEGER", "us since 1970, time of the first event"},
    {"last_us", "INTEGER", "us since 1970, time of the last event"},
    {"frames", "INTEGER", "number of events with frames"},
    {"problems", "TEXT",
     "JSON array of {what, count}: events and blocks that contradict each other, and keys that are "
     "not read"},
    {"size", "INTEGER", "bytes on disk"},
    {"pickle_size", "INTEGER", "bytes of the pickle after decompression"},
};

static const struct argument arguments_of_files[] = {
    {SNAPSHOT_ARGUMENT},
    {"ranks", TAKES_RANKS_OR_WORST, false,
     "integer, JSON array, 'all' or 'worst', whose files must be readable; default all, readable "
     "or not"},
};

enum { LONGEST_UNREAD = 100 /* bytes of a key */ };

static void write_problem(struct writer *list, const char *what, int64_t count)
{
    write_string(list, list->length > 1 ? ",{\"what\":" : "{\"what\":");
    write_json_string(list, what);
    write_string(list, ",\"count\":");
    write_integer(list, count);
    write_string(list, "}");
}

static void add_problems(struct result *result, const struct snapshot *snapshot,
                         const int64_t *problems, const char *failure)
{
    static const char *const texts[MEMORY_PROBLEMS] = {
        [MEMORY_TWICE] = "alloc at an address that is in use",
        [MEMORY_DIFFERS] = "block of another size than its alloc",
        [MEMORY_NO_BLOCK] = "allocation that is open at the end without a block",
        [MEMORY_TWO_BLOCKS] = "second block at an address",
    };
    struct writer list = {0};
    write_string(&list, "[");
    if (failure)
        write_problem(&list, failure, 1);
    for (int i = 0; problems && i < MEMORY_PROBLEMS; i++)
        if (problems[i] > 0)
            write_problem(&list, texts[i], problems[i]);
    for (size_t i = 0; snapshot && i < snapshot->unread_count; i++) {
        char text[LONGEST_UNREAD + 32];
        sqlite3_snprintf(sizeof text, text, "key '%.*s' is not read", LONGEST_UNREAD,
                         snapshot->unread[i]);
        write_problem(&list, text, 1);
    }
    write_string(&list, "]");
    if (list.failed)
        result_lost(result);
    else
        result_text(result, list.bytes, list.length);
    writer_clear(&list);
}

static int64_t count_frames(struct call *call, const struct snapshot *snapshot,
                            const struct memory_device *device)
{
    int64_t count = 0;
    for (size_t i = 0; i < device->event_count; i++) {
        if (!stopper_goes_on(call_stopper(call), i, &call->failure))
            break;
        struct value_walk walk = values_walk(&snapshot->pickle.values,
                                       event_field(snapshot, device, i, KEY_FRAMES));
        count += walk_next(&walk) != 0;
    }
    return count;
}

static void add_device(struct call *call, struct result *result, const struct snapshot *snapshot,
                       int64_t rank, const struct memory_device *device)
{
    result_repaired(result, snapshot->path, strlen(snapshot->path));
    result_integer(result, rank);
    result_integer(result, device->number);
    result_integer(result, (int64_t)device->event_count);
    result_integer(result, (int64_t)device->allocation_count);
    result_integer(result, device->peak_bytes);
    result_integer(result, device->peak_blocks);
    result_integer(result, device->peak_event);
    result_number(result, event_time(snapshot, device, device->peak_event));
    result_integer(result, device->peak_reserved);
    result_integer(result, device->end_bytes);
    result_integer(result, device->end_reserved);
    result_number(result,
                  device->event_count > 0 ? event_time(snapshot, device, 0) : NUMBER_NONE);
    result_number(result, event_time(snapshot, device, (int64_t)device->event_count - 1));
    result_integer(result, count_frames(call, snapshot, device));
    add_problems(result, snapshot, device->problems, NULL);
    result_integer(result, snapshot->identity.size);
    result_integer(result, snapshot->pickle.size);
}

/* Adds a file that cannot be read, or without a device in use. */
static void add_other(struct result *result, const struct snapshot_file *file, const char *failure)
{
    result_repaired(result, file->path, strlen(file->path));
    result_integer(result, file->rank);
    for (int i = 2; i < COUNT_OF(columns_of_files); i++)
        if (strcmp(columns_of_files[i].name, "problems") == 0)
            add_problems(result, NULL, NULL, failure);
        else
            result_null(result);
}

/* Adds the rows of a file. Its failure becomes a problem, unless the call cannot go on. `asked`:
** its rank was requested, so it must be readable. */
static void add_file(struct call *call, struct result *result, const struct snapshot_file *file,
                     bool asked)
{
    const struct snapshot_file named = {.path = file->path}; /* unlisted: reports failure */
    struct snapshot *snapshot = call_snapshot_open(call, &named);
    enum failure_code code = call->failure.code;
    bool any = false;
    for (size_t d = 0; snapshot && d < snapshot->device_count; d++) {
        any = any || snapshot->devices[d].used;
        if (snapshot->devices[d].used)
            add_device(call, result, snapshot, file->rank, &snapshot->devices[d]);
    }
    snapshot_release(snapshot);
    if (any || code == FAILURE_MEMORY || code == FAILURE_INTERRUPTED ||
        (asked && code != FAILURE_NONE && code != FAILURE_NOT_TRACE))
        return;
    add_other(result, file, call->failure.text);
    failure_clear(&call->failure);
}

static int files_produce(struct call *call, struct rows **rows)
{
    struct call_snapshots snapshots;
    struct result *result = result_new(call->function->column_count);
    connection_begin_work(call->connection);
    if (result && call_snapshots_all(call, &snapshots))
        for (size_t i = 0; i < snapshots.count && call_code(call) == SQLITE_OK; i++)
            if (snapshots.ranks.kind != SELECT_LIST ||
                has_integer(snapshots.ranks.values, snapshots.ranks.count, snapshots.files[i].rank))
                add_file(call, result, &snapshots.files[i], call->values[SNAPSHOT_RANKS]);
    connection_end_work(call->connection);
    if (result)
        call_snapshots_close(&snapshots);
    return result_finish(result, call_code(call), rows);
}

const struct table_function memory_files_function = {
    .name = "memory_files",
    .family = FAMILY_MEMORY,
    .question = "How high is the peak of each device?",
    .text =
        "the devices in allocator snapshots, with peaks and problems, one row per file and device",
    COLUMNS(columns_of_files),
    ARGUMENTS(arguments_of_files),
    .produce = files_produce,
};
