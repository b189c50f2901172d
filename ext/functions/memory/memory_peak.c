/*
** memory_peak: the memory allocated at the peak of each device, by keys (M7 to M9).
*/
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "call_snapshot.h"

/* In the order of the columns. */
enum peak_key {
    PEAK_PHASE,
    PEAK_ANNOTATION,
    PEAK_FUNCTION,
    PEAK_PLACE,
    PEAK_OP,
    PEAK_TOP_OP,
    PEAK_NODE,
    PEAK_KEYS
};

static const struct table_column columns_of_peak[] = {
    {"rank", "INTEGER", "rank in the file's name, else the file's position in the order"},
    {"device", "INTEGER", "number of the device; -1: pinned memory of the host"},
    {"phase", "TEXT",
     "phase as in memory_allocations, or 'cached and rounded': reserved but not requested"},
    {"annotation", "TEXT",
     "innermost annotation; NULL, like the other keys, if it is not in `keys`"},
    {"function", "TEXT", "file and name of the user's innermost frame"},
    {"place", "TEXT", "file, line and name of the user's innermost frame"},
    {"op", "TEXT", "operator that allocates"},
    {"top_op", "TEXT", "outermost operator"},
    {"node", "TEXT", "autograd node, such as AddmmBackward0"},
    {"bytes", "INTEGER", "bytes at the peak"},
    {"blocks", "INTEGER", "number of allocations at the peak"},
};

static const char *const key_names[PEAK_KEYS] = {
    [PEAK_PHASE] = "phase",       [PEAK_ANNOTATION] = "annotation",
    [PEAK_FUNCTION] = "function", [PEAK_PLACE] = "place",
    [PEAK_OP] = "op",             [PEAK_TOP_OP] = "top_op",
    [PEAK_NODE] = "node"};

enum { PEAK_SNAPSHOT, PEAK_BY_KEYS, PEAK_RANKS };

static const struct argument arguments_of_peak[] = {
    {SNAPSHOT_ARGUMENT},
    {"keys", TAKES_TEXT, false,
     "one or more, separated by commas, of phase, annotation, function, place, op, top_op and "
     "node; default 'phase,function,op'"},
    {"ranks", TAKES_RANKS_OR_WORST, false,
     "integer, JSON array, 'all' or 'worst' (the rank with the highest peak); default the lowest"},
};

struct peak_call {
    bool by[PEAK_KEYS];
    struct result *result;
    int64_t last; /* rank whose rows were added last; -1: none */
};

/* Allocations with equal keys. NULL: the key is unknown, or not in `keys`. */
struct peak_part {
    const struct name *keys[PEAK_KEYS];
    int64_t bytes, blocks;
};

static int keys_order(const void *a, const void *b)
{
    const struct peak_part *x = a, *y = b;
    for (int i = 0; i < PEAK_KEYS; i++) {
        const struct name *p = x->keys[i], *q = y->keys[i];
        int order = p == q ? 0 : p && q ? name_compare(p, q) : (p != NULL) - (q != NULL);
        if (order != 0)
            return order;
    }
    return 0;
}

static int bytes_order(const void *a, const void *b)
{
    const struct peak_part *x = a, *y = b;
    int order = COMPARE(y->bytes, x->bytes);
    return order ? order : keys_order(a, b);
}

static const struct name *phase_name(enum memory_phase phase)
{
    static const struct name names[] = {[PHASE_BEFORE] = {.text = "before", .length = 6},
                                        [PHASE_UNKNOWN] = {.text = "unknown", .length = 7},
                                        [PHASE_BACKWARD] = {.text = "backward", .length = 8},
                                        [PHASE_OPTIMIZER] = {.text = "optimizer", .length = 9},
                                        [PHASE_FORWARD] = {.text = "forward", .length = 7}};
    return &names[phase];
}

static const struct name *name_of(const struct names *names, uint32_t id)
{
    return id == NAME_NONE ? NULL : &names->items[id];
}

/* Makes a part from one allocation. Its label must exist already, so that names do not move. */
static bool make_part(struct call *call, const struct peak_call *peak, struct snapshot *snapshot,
                      const struct memory_device *device,
                      const struct memory_allocation *allocation, struct peak_part *part)
{
    const struct stack_label *label = allocation_label(snapshot, allocation, &call->failure);
    const struct names *names = &snapshot->labels.names;
    if (!label)
        return false;
    *part = (struct peak_part){.bytes = allocation->bytes, .blocks = 1};
    part->keys[PEAK_PHASE] = phase_name(allocation->begin == 0 ? PHASE_BEFORE : label->phase);
    part->keys[PEAK_FUNCTION] = name_of(names, label->function);
    part->keys[PEAK_PLACE] = name_of(names, label->place);
    part->keys[PEAK_OP] = name_of(names, label->op);
    part->keys[PEAK_TOP_OP] = name_of(names, label->top_op);
    part->keys[PEAK_NODE] = name_of(names, label->node);
    part->keys[PEAK_ANNOTATION] =
        name_of(&snapshot->pickle.values.texts,
                peak->by[PEAK_ANNOTATION] ? allocation_annotation(snapshot, device, allocation)
                                          : NAME_NONE);
    for (int i = 0; i < PEAK_KEYS; i++)
        part->keys[i] = peak->by[i] ? part->keys[i] : NULL;
    return true;
}

/* Merges parts with equal keys. Returns the number of remaining parts. */
static size_t merge_parts(struct peak_part *parts, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && keys_order(&parts[kept - 1], &parts[i]) == 0) {
            parts[kept - 1].bytes += parts[i].bytes;
            parts[kept - 1].blocks += parts[i].blocks;
        } else {
            parts[kept++] = parts[i];
        }
    }
    return kept;
}

/* Makes the parts of a device, at most peak_blocks, largest first. */
static bool make_parts(struct call *call, const struct peak_call *peak, struct snapshot *snapshot,
                       const struct memory_device *device, struct peak_part *parts, size_t *count)
{
    const struct stopper *stopper = call_stopper(call);
    struct failure *failure = &call->failure;
    for (int pass = 0; pass < 2; pass++) { /* the first pass makes the labels */
        *count = 0;
        for (size_t i = 0; i < device->allocation_count; i++) {
            const struct memory_allocation *allocation = &device->allocations[i];
            if (!stopper_goes_on(stopper, i, failure))
                return false;
            if (allocation_alive(allocation, device->peak_event) &&
                !make_part(call, peak, snapshot, device, allocation, &parts[(*count)++]))
                return false;
        }
    }
    if (!sort_items(parts, *count, sizeof *parts, keys_order, stopper, failure))
        return false;
    *count = merge_parts(parts, *count);
    return sort_items(parts, *count, sizeof *parts, bytes_order, stopper, failure);
}

static void add_part(struct result *result, int64_t rank, const struct memory_device *device,
                     const struct peak_part *part)
{
    result_integer(result, rank);
    result_integer(result, device->number);
    for (int i = 0; i < PEAK_KEYS; i++)
        result_text(result, part->keys[i] ? part->keys[i]->text : NULL,
                    part->keys[i] ? part->keys[i]->length : 0);
    result_integer(result, part->bytes);
    result_integer(result, part->blocks);
}

static bool add_snapshot(struct call *call, struct snapshot *snapshot, int64_t rank, void *to)
{
    static const struct name cached = {.text = "cached and rounded", .length = 18};
    struct peak_call *peak = to;
    bool done = true;
    if (rank == peak->last)
        return failure_set(&call->failure, FAILURE_REQUEST,
                           "rank %lld has several snapshots, '%s' is one of them: name one",
                           (long long)rank, snapshot->path);
    peak->last = rank;
    for (size_t d = 0; done && d < snapshot->device_count; d++) {
        const struct memory_device *device = &snapshot->devices[d];
        if (!device->used)
            continue;
        size_t count;
        struct peak_part *parts = memory_zeroed((size_t)device->peak_blocks, sizeof *parts);
        struct peak_part rest = {.keys = {[PEAK_PHASE] = &cached}};
        done = (parts || failure_memory(&call->failure)) &&
               make_parts(call, peak, snapshot, device, parts, &count);
        for (size_t i = 0; done && i < count; i++)
            add_part(peak->result, rank, device, &parts[i]);
        rest.bytes = device->peak_reserved - device->peak_bytes;
        if (done)
            add_part(peak->result, rank, device, &rest);
        memory_free(parts);
    }
    return done;
}

static bool read_by(struct call *call, bool *by)
{
    int chosen[PEAK_KEYS];
    size_t count = 0;
    memset(by, 0, PEAK_KEYS * sizeof *by);
    by[PEAK_PHASE] = by[PEAK_FUNCTION] = by[PEAK_OP] = !call->values[PEAK_BY_KEYS];
    if (call->values[PEAK_BY_KEYS] &&
        !argument_words(call, PEAK_BY_KEYS, key_names, PEAK_KEYS, chosen, &count))
        return false;
    for (size_t i = 0; i < count; i++)
        by[chosen[i]] = true;
    return true;
}

static int peak_produce(struct call *call, struct rows **rows)
{
    struct call_snapshots snapshots = {.count = 0};
    struct peak_call peak = {.result = result_new(call->function->column_count), .last = -1};
    connection_begin_work(call->connection);
    if (peak.result && read_by(call, peak.by) &&
        call_snapshots_find(call, PEAK_SNAPSHOT, PEAK_RANKS, &snapshots))
        call_snapshots_each(call, &snapshots, add_snapshot, &peak);
    connection_end_work(call->connection);
    call_snapshots_close(&snapshots);
    return result_finish(peak.result, call_code(call), rows);
}

const struct table_function memory_peak_function = {
    .name = "memory_peak",
    .family = FAMILY_MEMORY,
    .question = "What is allocated at the peak of memory of one run?",
    .text =
        "the memory at the peak of each device, grouped by keys; the rows add up to the memory "
        "reserved then",
    COLUMNS(columns_of_peak),
    ARGUMENTS(arguments_of_peak),
    .produce = peak_produce,
};
