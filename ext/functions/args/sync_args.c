#include "sync_args.h"

#include "base/memory.h"
#include "shapes.h"
#include "text/number.h"

/* The number that args have for a key, by row; `wanted` rows only. */
static bool read_numbers(struct call *call, struct trace_file *file, const char *key,
                         const bool *wanted, uint32_t *values, struct names *texts)
{
    for (size_t row = 0; row < file->columns.count; row++)
        values[row] = wanted[row] ? 0 : NAME_NONE;
    return arg_read(call, file, key, values, texts);
}

static int64_t number_of(const struct names *texts, uint32_t id)
{
    int64_t number;
    const struct name *text = id == NAME_NONE ? NULL : &texts->items[id];
    return text && number_integer((const unsigned char *)text->text, text->length, &number) &&
                   number >= 0 && number < UINT32_MAX
               ? number
               : NUMBER_NONE;
}

/* Reads what sync events of a file say (P6.1). */
static bool read_syncs(struct call *call, struct trace_file *file, struct path_syncs *syncs)
{
    size_t rows = file->columns.count, count = 0;
    struct names texts = {0};
    bool *wanted = memory_zeroed(rows + 1, sizeof *wanted), done = true;
    *syncs = (struct path_syncs){.count = 0};
    for (size_t row = 0; wanted && row < rows; row++)
        count += wanted[row] = path_sync_wanted(file, row);
    uint32_t *streams = count > 0 ? memory_filled(rows, sizeof *streams) : NULL;
    uint32_t *records = count > 0 ? memory_filled(rows, sizeof *records) : NULL;
    if (count > 0) {
        syncs->items = memory_items(count, sizeof *syncs->items);
        done = (streams && records && syncs->items) || failure_memory(&call->failure);
        done =
            done && read_numbers(call, file, "wait_on_stream", wanted, streams, &texts) &&
            read_numbers(call, file, "wait_on_cuda_event_record_corr_id", wanted, records, &texts);
    } else if (!wanted) {
        done = failure_memory(&call->failure);
    }
    for (size_t row = 0; done && count > 0 && row < rows; row++) {
        int64_t stream = wanted[row] ? number_of(&texts, streams[row]) : NUMBER_NONE;
        if (stream != NUMBER_NONE)
            syncs->items[syncs->count++] =
                (struct path_sync){(uint32_t)row, stream, number_of(&texts, records[row])};
    }
    memory_free(wanted);
    memory_free(streams);
    memory_free(records);
    names_clear(&texts);
    return done;
}

struct path_syncs *sync_args_read(struct call *call, const struct trace *trace)
{
    struct path_syncs *syncs = memory_zeroed(trace->count, sizeof *syncs);
    bool done = syncs || failure_memory(&call->failure);
    for (size_t i = 0; done && i < trace->count; i++)
        done = !trace->members[i].chosen || read_syncs(call, trace->members[i].file, &syncs[i]);
    if (done)
        return syncs;
    sync_args_free(syncs, trace);
    return NULL;
}

void sync_args_free(struct path_syncs *syncs, const struct trace *trace)
{
    for (size_t i = 0; syncs && i < trace->count; i++)
        memory_free(syncs[i].items);
    memory_free(syncs);
}
