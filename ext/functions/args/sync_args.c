#include "sync_args.h"

#include "base/memory.h"
#include "shapes.h"
#include "text/number.h"

/* The waits of a file. */
struct kept_syncs {
    struct derived derived; /* must be first */
    struct path_syncs syncs;
};

static void free_kept(struct derived *derived)
{
    memory_free(((struct kept_syncs *)derived)->syncs.items);
    memory_free(derived);
}

static const struct kept_syncs *find_kept(const struct trace_file *file)
{
    return (const struct kept_syncs *)derived_find(file, free_kept);
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

bool sync_wish_make(struct call *call, const struct trace_file *file, struct sync_wish *wish)
{
    size_t rows = file->columns.count, count = 0;
    *wish = (struct sync_wish){.keys = {"wait_on_stream", "wait_on_cuda_event_record_corr_id"}};
    for (size_t row = 0; row < rows; row++)
        count += path_sync_wanted(file, row);
    if (count == 0 || find_kept(file))
        return true;
    for (int key = 0; key < SYNC_KEYS; key++) {
        wish->values[key] = memory_filled(rows, sizeof *wish->values[key]);
        if (!wish->values[key])
            return failure_memory(&call->failure);
        for (size_t row = 0; row < rows; row++)
            if (path_sync_wanted(file, row))
                wish->values[key][row] = 0;
    }
    return true;
}

bool sync_wish_keep(struct call *call, struct trace_file *file, const struct sync_wish *wish,
                    const struct names *names)
{
    size_t rows = file->columns.count, count = 0;
    if (find_kept(file))
        return true;
    struct kept_syncs *kept = memory_zeroed(1, sizeof *kept);
    for (size_t row = 0; kept && wish->values[0] && row < rows; row++)
        count += number_of(names, wish->values[0][row]) != NUMBER_NONE;
    struct path_sync *items = memory_items(count, sizeof *items);
    if (!kept || !items) {
        memory_free(kept);
        memory_free(items);
        return failure_memory(&call->failure);
    }
    *kept = (struct kept_syncs){
        .derived = {file->derived, sizeof *kept + count * sizeof *items, free_kept},
        .syncs = {.items = items}};
    for (size_t row = 0; count > 0 && row < rows; row++) {
        int64_t stream = number_of(names, wish->values[0][row]);
        if (stream != NUMBER_NONE)
            items[kept->syncs.count++] =
                (struct path_sync){(uint32_t)row, stream, number_of(names, wish->values[1][row])};
    }
    file->derived = &kept->derived;
    return true;
}

void sync_wish_clear(struct sync_wish *wish)
{
    for (int key = 0; key < SYNC_KEYS; key++)
        memory_free(wish->values[key]);
}

/* Reads the args of a file's sync events, unless they are known. */
static bool read_syncs(struct call *call, struct trace_file *file)
{
    struct names texts = {0};
    struct sync_wish wish;
    bool done = sync_wish_make(call, file, &wish) &&
                (!wish.values[0] ||
                 args_values_read(call, file, wish.keys, wish.values, SYNC_KEYS, &texts)) &&
                sync_wish_keep(call, file, &wish, &texts);
    sync_wish_clear(&wish);
    names_clear(&texts);
    return done;
}

struct path_syncs *sync_args_read(struct call *call, const struct trace *trace)
{
    struct path_syncs *syncs = memory_zeroed(trace->count, sizeof *syncs);
    bool done = syncs || failure_memory(&call->failure);
    for (size_t i = 0; done && i < trace->count; i++) {
        struct trace_file *file = trace->members[i].file;
        if (!trace->members[i].chosen)
            continue;
        done = read_syncs(call, file);
        if (done)
            syncs[i] = find_kept(file)->syncs;
    }
    if (done)
        return syncs;
    memory_free(syncs);
    return NULL;
}
