/*
** memory_timeline: the memory of a device by category over time, from a file that PyTorch's memory
** profiler exports.
**
** 1. The file is a list of entries [time, action, bytes, category] in order of time, written by
**    export_memory_timeline() with a path that ends in .raw.json.gz. Bytes are negative where
**    memory is freed. An entry that changes the category of a block is followed by a second one, so
**    the action is not needed.
** 2. A row has the sums by category after all entries of one time; an entry with a different time
**    from the one before it begins a new row. HTA's MemoryAnalysis reads the file the same way.
** 3. A time below 0 marks memory from before the profiler started. It becomes the first time above
**    0 in the file, or NULL if there is none.
** 4. Categories are the numbers 0 to 7. An entry that breaks rule 1 is an error, and so is a sum
**    beyond 64 bits.
*/
#include "base/memory.h"
#include "text/number.h"
#include "base/wide.h"
#include "functions/call/call_list.h"

/* In the order of the profiler's numbers. */
static const struct table_column columns_of_timeline[] = {
    LIST_COLUMNS,
    {"ts", "REAL", "us from the first time in the file"},
    {"ts_ns", "INTEGER", "ns, absolute, on the clock of trace_events.ts_ns"},
    {"total", "INTEGER", "bytes allocated from this time on: the sum of the next columns"},
    {"parameter", "INTEGER", "bytes of parameters"},
    {"optimizer_state", "INTEGER", "bytes of the optimizer's state"},
    {"input", "INTEGER", "bytes of inputs"},
    {"temporary", "INTEGER", "bytes that an operator needs while it runs"},
    {"activation", "INTEGER", "bytes of activations"},
    {"gradient", "INTEGER", "bytes of gradients"},
    {"autograd_detail", "INTEGER", "bytes that autograd needs"},
    {"unknown", "INTEGER", "bytes that the profiler could not classify"},
};

enum { TIMELINE_CATEGORIES = 8 };
enum { ENTRY_TIME, ENTRY_ACTION, ENTRY_BYTES, ENTRY_CATEGORY, ENTRY_VALUES };

static const struct argument arguments_of_timeline[] = {{LIST_ARGUMENT}};

struct timeline {
    struct timeline_point {
        int64_t time, bytes[TIMELINE_CATEGORIES], total;
    } * points;
    size_t count, capacity;
    int64_t first; /* the first time above 0; 0: none yet */
};

/* Reads an entry: an array of ENTRY_VALUES integers. */
static bool read_entry(const struct token *element, int64_t *values)
{
    struct scan scan = {element->at + element->length, NULL};
    const unsigned char *p = element->at + 1;
    if (element->kind != TOKEN_NESTED || *element->at != '[')
        return false;
    for (int i = 0; i < ENTRY_VALUES; i++) {
        struct token value;
        p = scan_value(&scan, scan_space(p), &value);
        if (!p || value.kind != TOKEN_BARE || !number_integer(value.at, value.length, &values[i]))
            return false;
        p = scan_space(p);
        if (*p++ != (i + 1 < ENTRY_VALUES ? ',' : ']'))
            return false;
    }
    return values[ENTRY_CATEGORY] >= 0 && values[ENTRY_CATEGORY] < TIMELINE_CATEGORIES;
}

static bool take_entry(struct list_rows *rows, const struct token *element)
{
    struct timeline *timeline = rows->state;
    struct failure *failure = &rows->call->failure;
    int64_t values[ENTRY_VALUES];
    if (!read_entry(element, values))
        return list_refuse(rows->list,
                           "not an entry [time, action, bytes, category] of a memory timeline",
                           failure);
    if (!MEMORY_GROW(timeline->points, timeline->capacity, timeline->count + 1))
        return failure_memory(failure);
    struct timeline_point *last = timeline->points + timeline->count;
    int64_t time = values[ENTRY_TIME] < 0 ? -1 : values[ENTRY_TIME];
    if (timeline->count == 0)
        *last = (struct timeline_point){.time = time};
    else if (last[-1].time != time)
        *last = last[-1];
    else
        last--;
    last->time = time;
    timeline->count = (size_t)(last - timeline->points) + 1;
    if (time > 0 && (timeline->first == 0 || time < timeline->first))
        timeline->first = time;
    int64_t *category = &last->bytes[values[ENTRY_CATEGORY]], bytes = values[ENTRY_BYTES];
    if (__builtin_add_overflow(*category, bytes, category) ||
        __builtin_add_overflow(last->total, bytes, &last->total))
        return list_refuse(rows->list, "a sum of bytes beyond 64 bits", failure);
    return true;
}

static void add_points(struct list_rows *rows)
{
    struct timeline *timeline = rows->state;
    for (size_t i = 0; i < timeline->count; i++) {
        const struct timeline_point *point = &timeline->points[i];
        int64_t time = point->time < 0 ? timeline->first : point->time;
        add_list_file(rows);
        if (timeline->first == 0) {
            result_null(rows->result);
            result_null(rows->result);
        } else {
            result_real(rows->result, microseconds((wide_time)time - timeline->first));
            result_integer(rows->result, time);
        }
        result_integer(rows->result, point->total);
        for (int category = 0; category < TIMELINE_CATEGORIES; category++)
            result_integer(rows->result, point->bytes[category]);
    }
    timeline->count = 0;
    timeline->first = 0;
}

static int timeline_produce(struct call *call, struct rows **rows)
{
    struct timeline timeline = {.count = 0};
    int code = call_list_rows(call, NULL,
                              "a memory timeline: name a *.raw.json.gz of export_memory_timeline()",
                              take_entry, add_points, &timeline, rows);
    memory_free(timeline.points);
    return code;
}

const struct table_function memory_timeline_function = {
    .name = "memory_timeline",
    .family = FAMILY_MEMORY,
    .question = "How much memory is used over time, by category?",
    .text = "the memory of a device over time, by category, from the profiler's *.raw.json.gz",
    COLUMNS(columns_of_timeline),
    ARGUMENTS(arguments_of_timeline),
    .produce = timeline_produce,
};
