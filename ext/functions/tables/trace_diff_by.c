/*
** trace_diff_by: device work and host time of two traces, by keys.
*/
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "naming/short_name.h"
#include "base/sort.h"
#include "functions/call/call_keyed.h"
#include "functions/args/shapes.h"
#include "chart/writer.h"
#include "text/mend.h"
#include "text/scan.h"

enum {
    BY_KEY,
    BY_KEY_JSON,
    BY_COUNTS,
    BY_FROM_COUNTS = 9,
    BY_FLOPS = 17,
    BY_BYTES = 23,
    BY_PEAKS = 29,
    BY_EVENTS = 35,
    BY_VALUES = 37 /* by enum key */
};

static const struct table_column columns_of_diff_by[] = {
    {"key", "TEXT", "the values of the keys, joined by ' | '; NULL if all of them are NULL"},
    {"key_json", "TEXT", "the same values as a JSON object"},
    {"control_counts", "REAL",
     "executions per step in control, of operators that launched the row's device work; number of "
     "kernels, copies and fills if all keys describe the device"},
    {"test_counts", "REAL", "the same for test"},
    {"control_kernels", "REAL", "kernels, copies and fills per step in control"},
    {"test_kernels", "REAL", "the same for test"},
    {"control_device_time", "REAL", "us per step of device work in control"},
    {"test_device_time", "REAL", "us per step, the same for test"},
    {"diff_device_time", "REAL", "us per step, test minus control"},
    {"diff_from_counts", "REAL",
     "us per step, the part of diff_device_time due to more or fewer executions"},
    {"diff_from_mean", "REAL",
     "us per step, the part of diff_device_time due to longer or shorter executions"},
    {"control_host_time", "REAL", "us per step of host events in control"},
    {"test_host_time", "REAL", "us per step, the same for test"},
    {"diff_host_time", "REAL", "us per step, test minus control"},
    {"control_self_time", "REAL",
     "us per step in control, of host events without the events nested in them"},
    {"test_self_time", "REAL", "us per step, the same for test"},
    {"diff_self_time", "REAL", "us per step, test minus control"},
    [BY_FLOPS] = {"control_flops", "REAL",
                  "FLOPs per step in control, of device work with known FLOPs"},
    {"test_flops", "REAL", "the same for test"},
    {"control_tflops", "REAL", "TFLOP/s in control while that work runs"},
    {"test_tflops", "REAL", "the same for test"},
    {"diff_from_flops", "REAL",
     "us per step, the part of that work's difference due to more or fewer FLOPs"},
    {"diff_from_tflops", "REAL",
     "us per step, the part of that work's difference due to fewer or more FLOP/s"},
    [BY_BYTES] = {"control_bytes", "REAL",
                  "bytes per step in control, of device work with known bytes"},
    {"test_bytes", "REAL", "the same for test"},
    {"control_gbs", "REAL", "GB/s in control while that work runs"},
    {"test_gbs", "REAL", "the same for test"},
    {"diff_from_bytes", "REAL",
     "us per step, the part of that work's difference due to more or fewer bytes"},
    {"diff_from_gbs", "REAL",
     "us per step, the part of that work's difference due to fewer or more bytes per second"},
    [BY_PEAKS] = {"control_flops_pct", "REAL",
                  "percent of the device's peak FLOP/s in control (trace_device_peaks); NULL: not "
                  "known"},
    {"test_flops_pct", "REAL", "the same for test"},
    {"control_gbs_pct", "REAL",
     "percent of the device's peak memory bandwidth in control; NULL: not known, or a collective"},
    {"test_gbs_pct", "REAL", "the same for test"},
    {"control_bound", "TEXT",
     "'compute' or 'memory': the peak that limits the work in control; NULL: not known"},
    {"test_bound", "TEXT", "the same for test"},
    [BY_EVENTS] = {"control_events", "REAL", "host events per step in control"},
    {"test_events", "REAL", "the same for test"},
    [BY_VALUES + KEY_OP] = {"op", "TEXT", "value of this key; NULL if it is not among the keys"},
    [BY_VALUES + KEY_TOP_OP] = {"top_op", "TEXT", "the same"},
    [BY_VALUES + KEY_MODULE] = {"module", "TEXT", "the same"},
    [BY_VALUES + KEY_ANNOTATION] = {"annotation", "TEXT", "the same"},
    [BY_VALUES + KEY_KERNEL] = {"kernel", "TEXT", "the same"},
    [BY_VALUES + KEY_KERNEL_TYPE] = {"kernel_type", "TEXT", "the same"},
    [BY_VALUES + KEY_CAT] = {"cat", "TEXT", "the same"},
    [BY_VALUES + KEY_STREAM] = {"stream", "INTEGER", "the same"},
    [BY_VALUES + KEY_SHAPES] = {"shapes", "TEXT", "the same"},
    [BY_VALUES + KEY_TYPES] = {"types", "TEXT", "the same"},
    [BY_VALUES + KEY_NAME] = {"name", "TEXT", "the same"},
    [BY_VALUES + KEY_GRID] = {"grid", "TEXT", "the same"},
    [BY_VALUES + KEY_BLOCK] = {"block", "TEXT", "the same"},
    [BY_VALUES + KEY_COLLECTIVE] = {"collective", "TEXT", "the same"},
    [BY_VALUES + KEY_PROCESS_GROUP] = {"process_group", "TEXT", "the same"},
};

static const unsigned char served_of_diff_by[COUNT_OF(columns_of_diff_by)] = {
    [BY_KEY] = ON_DEMAND,         [BY_KEY_JSON] = ON_DEMAND,
    [BY_COUNTS] = ON_DEMAND,      [BY_COUNTS + 1] = ON_DEMAND,
    [BY_FROM_COUNTS] = ON_DEMAND, [BY_FROM_COUNTS + 1] = ON_DEMAND,
    [BY_FLOPS] = ON_DEMAND,     [BY_FLOPS + 1] = ON_DEMAND, [BY_FLOPS + 2] = ON_DEMAND,
    [BY_FLOPS + 3] = ON_DEMAND, [BY_FLOPS + 4] = ON_DEMAND, [BY_FLOPS + 5] = ON_DEMAND,
    [BY_BYTES] = ON_DEMAND,     [BY_BYTES + 1] = ON_DEMAND, [BY_BYTES + 2] = ON_DEMAND,
    [BY_BYTES + 3] = ON_DEMAND, [BY_BYTES + 4] = ON_DEMAND, [BY_BYTES + 5] = ON_DEMAND,
    [BY_PEAKS] = ON_DEMAND,     [BY_PEAKS + 1] = ON_DEMAND, [BY_PEAKS + 2] = ON_DEMAND,
    [BY_PEAKS + 3] = ON_DEMAND, [BY_PEAKS + 4] = ON_DEMAND, [BY_PEAKS + 5] = ON_DEMAND,
};

enum { BY_KEYS = 2, BY_DEVICE_TYPE = 7, BY_USE_SHORT_NAME };

static const struct argument arguments_of_diff_by[] = {
    {CONTROL_ARGUMENT},
    {TEST_ARGUMENT},
    {"keys", TAKES_TEXT, true,
     "one or more, separated by commas, of op, top_op, module, annotation, kernel, kernel_type, "
     "cat, stream, shapes, types, name, grid, block, collective and process_group"},
    SELECTIONS_OF_DIFF,
    {USE_SHORT_NAME_ARGUMENT},
    {STEPS_ARGUMENT},
};

static const char *const key_names[] = {[KEY_OP] = "op",         [KEY_TOP_OP] = "top_op",
                                        [KEY_MODULE] = "module", [KEY_ANNOTATION] = "annotation",
                                        [KEY_KERNEL] = "kernel", [KEY_KERNEL_TYPE] = "kernel_type",
                                        [KEY_CAT] = "cat",       [KEY_STREAM] = "stream",
                                        [KEY_SHAPES] = "shapes", [KEY_TYPES] = "types",
                                        [KEY_NAME] = "name",     [KEY_GRID] = "grid",
                                        [KEY_BLOCK] = "block",
                                        [KEY_COLLECTIVE] = "collective",
                                        [KEY_PROCESS_GROUP] = "process_group"};

/* Whether a text is exactly one value of strict JSON. `room` holds JSON_ROOM(length) bytes. */
#define JSON_ROOM(length) ((MEND_ROOM + 1) * ((length) + 6) + SCAN_PADDING)
static bool is_json(const char *text, size_t length, unsigned char *room)
{
    size_t written, wrapped = length + 6;
    unsigned char *from = room + 5;
    struct scan scan = {.end = from + length};
    struct token token;
    memcpy(room, "{\"\": ", 5);
    memcpy(from, text, length);
    memset(from + length, 0, SCAN_PADDING);
    if (length == 0 || scan_value(&scan, from, &token) != scan.end)
        return false;
    from[length] = '}';
    return mend_json(room, wrapped, room + wrapped + SCAN_PADDING, &written) == MEND_STRICT;
}

/* Writes the value of a key as JSON: a stream is a number; shapes and types keep the JSON of args,
** if it is valid. False if out of memory. */
static bool write_value(struct writer *json, enum key key, const struct name *name)
{
    bool raw = key == KEY_STREAM;
    if (key == KEY_SHAPES || key == KEY_TYPES || key == KEY_GRID || key == KEY_BLOCK) {
        unsigned char *room = memory_allocate(JSON_ROOM((size_t)name->length));
        if (!room)
            return false;
        raw = is_json(name->text, name->length, room);
        memory_free(room);
    }
    if (!raw) {
        size_t length = 0;
        char *text = memory_allocate(JSON_STRING_ROOM * (size_t)name->length + 1);
        if (!text)
            return false;
        length = shapes_write_string((const unsigned char *)name->text, name->length, text);
        write_string(json, "\"");
        write_bytes(json, text, length);
        write_string(json, "\"");
        memory_free(text);
    } else if (key == KEY_STREAM) {
        write_integer(json, strtoll(name->text, NULL, 10));
    } else {
        write_bytes(json, name->text, name->length);
    }
    return true;
}

/* Adds the columns key and key_json in SQLite's JSON format. SQLite's own functions do not report
** every failed allocation. */
static bool add_keys(struct call *call, struct result *result, const struct keyed *keyed,
                     const uint32_t *ids)
{
    struct writer key = {.bytes = NULL}, json = {.bytes = NULL};
    bool any = false, done = true;
    for (size_t i = 0; i < keyed->width && done; i++) {
        const struct name *name = ids[i] == NAME_NONE ? NULL : &keyed->names.items[ids[i]];
        any = any || name;
        write_string(&key, i > 0 ? " | " : "");
        write_string(&json, i > 0 ? ",\"" : "{\"");
        write_string(&json, key_names[keyed->keys[i]]);
        write_string(&json, "\":");
        if (!name)
            write_string(&json, "null");
        else
            done = write_value(&json, keyed->keys[i], name);
        if (name)
            write_bytes(&key, name->text, name->length);
    }
    write_string(&json, "}");
    done = (done && !key.failed && !json.failed) || failure_memory(&call->failure);
    if (done && any)
        result_text(result, key.bytes, key.length);
    else
        result_null(result);
    if (done)
        result_text(result, json.bytes, json.length);
    else
        result_null(result);
    writer_clear(&key);
    writer_clear(&json);
    return done;
}

/* Adds the columns of the keys. */
static void add_values(struct result *result, const struct keyed *keyed, const uint32_t *ids)
{
    for (int key = 0; key < KEY_COUNT; key++) {
        size_t i = 0;
        while (i < keyed->width && keyed->keys[i] != (enum key)key)
            i++;
        uint32_t id = i < keyed->width ? ids[i] : NAME_NONE;
        if (key == KEY_STREAM && id != NAME_NONE)
            result_integer(result, strtoll(keyed->names.items[id].text, NULL, 10));
        else
            result_name(result, &keyed->names, id);
    }
}

/* Adds three columns, us per step: control, test, and test minus control. */
static void add_both(struct result *result, wide_time control, wide_time test, const int64_t *steps)
{
    result_real(result, mean_microseconds(control, steps[0]));
    result_real(result, mean_microseconds(test, steps[1]));
    result_real(result, mean_difference(control, steps[0], test, steps[1]));
}

/* A key with its differences per step, the sort keys of rows. */
struct sorted_key {
    const struct keyed *keyed;
    size_t row;
    double change;      /* us of device time */
    double self_change; /* us of self time on the host */
};

/* Orders by |diff_device_time| descending, then |diff_self_time|, then by the keys; NULL first. */
static int sorted_key_order(const void *a, const void *b)
{
    const struct sorted_key *x = a, *y = b;
    if (fabs(x->change) != fabs(y->change))
        return fabs(x->change) > fabs(y->change) ? -1 : 1;
    if (fabs(x->self_change) != fabs(y->self_change))
        return fabs(x->self_change) > fabs(y->self_change) ? -1 : 1;
    const uint32_t *a_ids = x->keyed->ids + x->row * x->keyed->width;
    const uint32_t *b_ids = x->keyed->ids + y->row * x->keyed->width;
    for (size_t i = 0; i < x->keyed->width; i++) {
        const struct name *names = x->keyed->names.items;
        if (a_ids[i] == b_ids[i])
            continue;
        if (a_ids[i] == NAME_NONE || b_ids[i] == NAME_NONE)
            return a_ids[i] == NAME_NONE ? -1 : 1;
        return name_compare(&names[a_ids[i]], &names[b_ids[i]]);
    }
    return 0;
}

/* Returns the keys in the order of the rows; NULL on failure. */
static struct sorted_key *sort_keys(struct call *call, const struct keyed *keyed,
                                    const int64_t *steps)
{
    struct sorted_key *order = memory_zeroed(keyed->count, sizeof *order);
    if (!order) {
        failure_memory(&call->failure);
        return NULL;
    }
    for (size_t i = 0; i < keyed->count; i++) {
        const struct keyed_sums *sums = keyed->sums[i];
        order[i] = (struct sorted_key){
            keyed, i, mean_difference(sums[0].device_time, steps[0], sums[1].device_time, steps[1]),
            mean_difference(sums[0].self_time, steps[0], sums[1].self_time, steps[1])};
    }
    if (sort_items(order, keyed->count, sizeof *order, sorted_key_order,
                   call_stopper(call), &call->failure))
        return order;
    memory_free(order);
    return NULL;
}

static void add_sums(struct result *result, const struct keyed_sums *sums, const int64_t *steps)
{
    double counts[2], mean[2];
    for (int side = 0; side < 2; side++) { /* a key on one side has its mean on both */
        const struct keyed_sums *of = &sums[sums[side].executions > 0 ? side : !side];
        counts[side] = (double)sums[side].executions / (double)steps[side];
        mean[side] = of->executions > 0 ? mean_microseconds(of->device_time, of->executions) : 0;
    }
    result_real(result, counts[0]);
    result_real(result, counts[1]);
    result_real(result, (double)sums[0].kernels / (double)steps[0]);
    result_real(result, (double)sums[1].kernels / (double)steps[1]);
    add_both(result, sums[0].device_time, sums[1].device_time, steps);
    result_real(result, (counts[1] - counts[0]) * (mean[0] + mean[1]) / 2);
    result_real(result, (mean[1] - mean[0]) * (counts[0] + counts[1]) / 2);
    add_both(result, sums[0].host_time, sums[1].host_time, steps);
    add_both(result, sums[0].self_time, sums[1].self_time, steps);
}

/* Returns us per unit of work; 0: unknown. */
static double price(const struct keyed_measure *of)
{
    return of->amount > 0 ? microseconds(of->time) / (double)of->amount : 0;
}

/* Adds six columns (F7). `unit` scales a rate per us. */
static void add_measured(struct result *result, const struct keyed_measure *control,
                         const struct keyed_measure *test, const struct keyed_sums *sums,
                         const int64_t *steps, double unit)
{
    const struct keyed_measure *sides[] = {control, test};
    bool known[2], any = control->kernels + test->kernels > 0;
    for (int side = 0; side < 2; side++) {
        known[side] = any && (sides[side]->kernels > 0 || sums[side].kernels == 0);
        if (known[side])
            result_real(result, (double)sides[side]->amount / (double)steps[side]);
        else
            result_null(result);
    }
    for (int side = 0; side < 2; side++)
        if (sides[side]->kernels > 0 && sides[side]->time > 0)
            result_real(result,
                        (double)sides[side]->amount / microseconds(sides[side]->time) / unit);
        else
            result_null(result);
    if (!known[0] || !known[1]) {
        result_null(result);
        result_null(result);
        return;
    }
    double more =
        (double)test->amount / (double)steps[1] - (double)control->amount / (double)steps[0];
    double from_work = more * price(control->amount > 0 ? control : test);
    result_real(result, from_work);
    result_real(result, mean_difference(control->time, steps[0], test->time, steps[1]) - from_work);
}

/* Adds the share of the peak (F9). */
static void add_share(struct result *result, const struct keyed_measure *of)
{
    result_real(result,
                of->peak_time > 0 ? 100 * of->ideal_time / microseconds(of->peak_time) : NAN);
}

/* F9.3: returns the resource that limits the work; NULL: unknown. */
static const char *bound(const struct keyed_work *work)
{
    const struct keyed_measure *flops = &work->flops, *bytes = &work->bytes;
    if (bytes->peak_kernels == 0 || bytes->peak_kernels < flops->kernels ||
        flops->peak_kernels < flops->kernels)
        return NULL;
    return flops->ideal_time > bytes->ideal_time ? "compute" : "memory";
}

/* Adds six columns for both sides. */
static void add_peaks(struct result *result, const struct keyed_work *work, bool known)
{
    if (!known) {
        result_nulls(result, BY_EVENTS - BY_PEAKS);
        return;
    }
    add_share(result, &work[0].flops);
    add_share(result, &work[1].flops);
    add_share(result, &work[0].bytes);
    add_share(result, &work[1].bytes);
    result_string(result, bound(&work[0]));
    result_string(result, bound(&work[1]));
}

static void add_work(struct result *result, const struct keyed *keyed, size_t row,
                     const int64_t *steps)
{
    const struct keyed_work *work = keyed->work ? keyed->work[row] : NULL;
    const struct keyed_sums *sums = keyed->sums[row];
    if (!work) {
        result_nulls(result, BY_EVENTS - BY_FLOPS);
        return;
    }
    add_measured(result, &work[0].flops, &work[1].flops, sums, steps, 1e6); /* TFLOP/s */
    add_measured(result, &work[0].bytes, &work[1].bytes, sums, steps, 1e3); /* GB/s */
    add_peaks(result, work, keyed->wants_peaks);
}

static void add_keyed_rows(struct call *call, struct result *result, const struct keyed *keyed,
                           const int64_t *steps)
{
    struct sorted_key *order = sort_keys(call, keyed, steps);
    bool done = order, wants_keys = call_wants(call, BY_KEY) || call_wants(call, BY_KEY_JSON);
    for (size_t i = 0; done && i < keyed->count; i++) {
        size_t row = order[i].row;
        if (wants_keys) {
            done = add_keys(call, result, keyed, keyed->ids + row * keyed->width);
        } else {
            result_null(result);
            result_null(result);
        }
        add_sums(result, keyed->sums[row], steps);
        add_work(result, keyed, row, steps);
        for (int side = 0; side < 2; side++)
            result_real(result, (double)keyed->sums[row][side].events / (double)steps[side]);
        add_values(result, keyed, keyed->ids + row * keyed->width);
    }
    memory_free(order);
}

static int diff_by_produce(struct call *call, struct rows **rows)
{
    struct keyed keyed = {.width = 0};
    struct result *result = result_new(call->function->column_count);
    enum device_type device_type;
    int use_short_name, chosen[KEY_COUNT];
    int64_t steps[2];
    if (argument_words(call, BY_KEYS, key_names, KEY_COUNT, chosen, &keyed.width) &&
        argument_device_type(call, BY_DEVICE_TYPE, &device_type) &&
        argument_use_short_name(call, BY_USE_SHORT_NAME, &use_short_name)) {
        for (size_t i = 0; i < keyed.width; i++)
            keyed.keys[i] = (enum key)chosen[i];
        keyed.wants_executions = call_wants(call, BY_COUNTS) || call_wants(call, BY_COUNTS + 1) ||
                                 call_wants(call, BY_FROM_COUNTS) ||
                                 call_wants(call, BY_FROM_COUNTS + 1);
        for (int i = BY_FLOPS; i < BY_EVENTS; i++)
            keyed.wants_work = keyed.wants_work || call_wants(call, i);
        for (int i = BY_BYTES; i < BY_EVENTS; i++)
            keyed.wants_transfers = keyed.wants_transfers || call_wants(call, i);
        for (int i = BY_PEAKS; i < BY_EVENTS; i++)
            keyed.wants_peaks = keyed.wants_peaks || call_wants(call, i);
        keyed.rename = use_short_name == 2 ? name_stable : use_short_name == 1 ? name_short : NULL;
        struct call_trace opened[2];
        bool open = call_sides_open(call, opened);
        bool done = open && call_keyed_add(call, opened, device_type, false, &keyed);
        for (int i = 0; open && i < 2; i++) {
            steps[i] = opened[i].steps.steps;
            call_trace_close(&opened[i]);
        }
        if (done)
            add_keyed_rows(call, result, &keyed, steps);
    }
    keyed_clear(&keyed);
    return result_finish(result, call_code(call), rows);
}

const struct table_function trace_diff_by_function = {
    .name = "trace_diff_by",
    .family = FAMILY_OPERATORS_AND_KERNELS,
    .question = "Do operators run more often, do more, or slower, by shapes?",
    .text =
        "device work and host time of two traces side by side, grouped by keys such as op and "
        "shapes",
    COLUMNS(columns_of_diff_by),
    ARGUMENTS(arguments_of_diff_by),
    .serves = served_of_diff_by,
    .produce = diff_by_produce,
};
