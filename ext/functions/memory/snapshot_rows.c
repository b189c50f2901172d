#include "snapshot_rows.h"

#include <string.h>

#include "base/memory.h"
#include "text/number.h"
#include "text/text.h"
#include "base/sort.h"

/* State of making rows. */
struct making {
    struct snapshot_rows *rows;
    size_t (*size)(const struct memory_device *device);
    bool (*prepare)(struct call *call, struct snapshot_part *part);
};

static bool add_parts(struct call *call, struct snapshot *snapshot, int64_t rank, void *to)
{
    const struct making *making = to;
    struct snapshot_rows *rows = making->rows;
    for (size_t d = 0; d < snapshot->device_count; d++) {
        const struct memory_device *device = &snapshot->devices[d];
        size_t size = making->size(device);
        if (size == 0)
            continue;
        if (!MEMORY_GROW(rows->parts, rows->capacity, rows->count + 1))
            return failure_memory(&call->failure);
        struct snapshot_part *part = &rows->parts[rows->count++];
        *part = (struct snapshot_part){snapshot, rank, device, rows->rows.count, {NULL, NULL}};
        snapshot->references++;
        rows->rows.count += (int64_t)size;
        if (making->prepare && !making->prepare(call, part))
            return false;
        rows->rows.memory += (part->sums[0] != NULL) * device->event_count * sizeof(int64_t) +
                             (part->sums[1] != NULL) * device->event_count * sizeof(int64_t);
    }
    rows->rows.memory += snapshot_memory(snapshot);
    return true;
}

int snapshot_rows_make(struct call *call, const struct rows_methods *methods,
                       size_t (*size)(const struct memory_device *device),
                       bool (*prepare)(struct call *call, struct snapshot_part *part),
                       struct rows **rows)
{
    struct call_snapshots snapshots;
    struct snapshot_rows *made = memory_zeroed(1, sizeof *made);
    struct making making = {made, size, prepare};
    if (!made)
        return SQLITE_NOMEM;
    made->rows.methods = methods;
    made->connection = call->connection;
    connection_begin_work(call->connection);
    if (call_snapshots_all(call, &snapshots))
        call_snapshots_each(call, &snapshots, add_parts, &making);
    connection_end_work(call->connection);
    call_snapshots_close(&snapshots);
    if (call_code(call) == SQLITE_OK)
        *rows = &made->rows;
    else
        snapshot_rows_destroy(&made->rows);
    return call_code(call);
}

const struct snapshot_part *snapshot_rows_part(const struct rows *rows, int64_t row)
{
    const struct snapshot_rows *made = (const struct snapshot_rows *)rows;
    size_t i = 0;
    LOWER_BOUND(i, made->count, made->parts[i].first <= row);
    return &made->parts[i - 1];
}

void snapshot_rows_destroy(struct rows *rows)
{
    struct snapshot_rows *made = (struct snapshot_rows *)rows;
    for (size_t i = 0; i < made->count; i++) {
        memory_free(made->parts[i].sums[0]);
        memory_free(made->parts[i].sums[1]);
        snapshot_release(made->parts[i].snapshot);
    }
    memory_free(made->parts);
    memory_free(made);
}

void give_number(sqlite3_context *context, int64_t number)
{
    if (number == NUMBER_NONE)
        sqlite3_result_null(context);
    else
        sqlite3_result_int64(context, number);
}

void give_name(sqlite3_context *context, const struct name *name)
{
    if (name)
        sqlite3_result_text64(context, name->text, name->length, SQLITE_TRANSIENT, SQLITE_UTF8);
    else
        sqlite3_result_null(context);
}

int give_path(sqlite3_context *context, const struct snapshot *snapshot)
{
    size_t length = strlen(snapshot->path);
    char *repaired = text_repaired(snapshot->path, &length);
    if (!repaired)
        return SQLITE_NOMEM;
    sqlite3_result_text64(context, repaired, length, SQLITE_TRANSIENT, SQLITE_UTF8);
    memory_free(repaired);
    return SQLITE_OK;
}
