/*
** trace_diff_by: device work and host time of two traces, by keys.
*/
#include <string.h>

#include "../analysis/keyed.h"
#include "../analysis/labels.h"
#include "../analysis/summary.h"
#include "../sqlite/arguments.h"
#include "../sqlite/registry.h"
#include "../trace/short_name.h"
#include "shapes.h"

SQLITE_EXTENSION_INIT3

#include "../reader/memory.h"

static const struct column columns_of_diff_by[] = {
    {"key", "TEXT", "the values of the keys, joined by ' | '; NULL if none has a value"},
    {"key_json", "TEXT", "JSON, the same as an object"},
    {"control_counts", "REAL",
     "a step in control: runs of operators that launched device work of the row; with keys of the "
     "device alone, events of device work"},
    {"test_counts", "REAL", "the same in test"},
    {"control_kernels", "REAL", "events of device work a step in control"},
    {"test_kernels", "REAL", "the same in test"},
    {"control_device_time", "REAL", "us a step, of device work in control"},
    {"test_device_time", "REAL", "us a step, the same in test"},
    {"diff_device_time", "REAL", "us a step, test minus control"},
    {"diff_from_counts", "REAL",
     "us a step, the part of diff_device_time that comes from more or fewer counts"},
    {"diff_from_mean", "REAL", "us a step, the part that comes from more or less time a count"},
    {"control_host_time", "REAL", "us a step, of host events in control"},
    {"test_host_time", "REAL", "us a step, the same in test"},
    {"diff_host_time", "REAL", "us a step, test minus control"},
    {"control_self_time", "REAL", "us a step, of it not in nested events (T5)"},
    {"test_self_time", "REAL", "us a step, the same in test"},
    {"diff_self_time", "REAL", "us a step, test minus control"},
};

static const struct argument arguments_of_diff_by[] = {
    {"control", "TEXT", true, "trace to compare with"},
    {"test", "TEXT", true, "trace that is compared"},
    {"keys", "TEXT", true,
     "one or more of op, top_op, module, annotation, kernel, kernel_type, cat, stream, shapes and "
     "name, between commas"},
    {"control_rank", "", false, "integer, JSON array or 'all'; default the lowest"},
    {"test_rank", "", false, "the same for test"},
    {"control_iteration", "", false,
     "integer, JSON array, 'all' or 'steady'; default the lowest step"},
    {"test_iteration", "", false, "the same for test"},
    {"device_type", "TEXT", false, "'ALL', 'CPU' or 'GPU'; default 'ALL'"},
    {"use_short_name", "INTEGER", false,
     "0 the full name, 1 trace_short_name, 2 trace_stable_name; default 2"},
};

enum { KEYS = 2, CONTROL_RANK, TEST_RANK, CONTROL_ITERATION, TEST_ITERATION, DEVICE, SHORT_NAME };

static const char *const key_names[] = {[KEY_OP] = "op",         [KEY_TOP_OP] = "top_op",
                                        [KEY_MODULE] = "module", [KEY_ANNOTATION] = "annotation",
                                        [KEY_KERNEL] = "kernel", [KEY_KERNEL_TYPE] = "kernel_type",
                                        [KEY_CAT] = "cat",       [KEY_STREAM] = "stream",
                                        [KEY_SHAPES] = "shapes", [KEY_NAME] = "name"};

/* Adds the shapes of a file's operators to keyed->names: by row. NULL if that fails, with
** `*code` saying how. */
static uint32_t *shapes_of(struct call *call, struct trace_file *file, struct keyed *keyed,
                           int *code)
{
    struct label_categories categories = label_categories_of(file);
    size_t size = (file->columns.count + 1) * sizeof(uint32_t), count = 0;
    uint32_t *shapes = memory_allocate(size), *rows = memory_allocate(size);
    uint32_t *ids = memory_allocate(size);
    *code = SQLITE_NOMEM;
    if (shapes && rows && ids) {
        memset(shapes, 0xff, size);
        for (uint32_t row = 0; row < file->columns.count; row++)
            if (label_is_operator(&categories, file->columns.cat[row]))
                rows[count++] = row;
        *code = shapes_read(call, file, rows, count, &keyed->names, ids);
        for (size_t i = 0; *code == SQLITE_OK && i < count; i++)
            shapes[rows[i]] = ids[i];
    }
    memory_free(rows);
    memory_free(ids);
    if (*code == SQLITE_OK)
        return shapes;
    memory_free(shapes);
    return NULL;
}

static bool has_key(const struct keyed *keyed, enum key key)
{
    size_t i = 0;
    while (i < keyed->width && keyed->keys[i] != key)
        i++;
    return i < keyed->width;
}

static int add_file(struct call *call, struct keyed *keyed, struct keyed_request *request)
{
    uint32_t *shapes = NULL;
    int code = SQLITE_OK;
    if (has_key(keyed, KEY_SHAPES) && !(shapes = shapes_of(call, request->file, keyed, &code)))
        return code;
    request->shapes = shapes;
    if (!keyed_add(keyed, request, &call->database->cache.stopper, &call->failure))
        code = SQLITE_ERROR;
    memory_free(shapes);
    return code;
}

/* Adds one of the traces; `*steps` as in struct step_choice. */
static int add_side(struct call *call, int side, enum device_type device_type, struct keyed *keyed,
                    int64_t *steps)
{
    struct trace_paths paths = {NULL, 0, 0};
    struct trace trace = {.count = 0};
    struct selection ranks = {.kind = SELECT_DEFAULT}, iterations = {.kind = SELECT_DEFAULT};
    struct step_choice choice = {.everything = false};
    const char *subject = side ? "test" : "control";
    struct trace_request request = {TRACE_FOR_DIFF, NULL, &ranks, subject};
    struct cache *cache = &call->database->cache;
    int code = SQLITE_ERROR;
    if (argument_selection(call, CONTROL_RANK + side, false, &ranks) &&
        argument_selection(call, CONTROL_ITERATION + side, true, &iterations) &&
        argument_trace(call, side, &paths) &&
        trace_open(&trace, &paths, cache, &request, &call->failure) &&
        trace_choose_steps(&trace, &iterations, subject, &choice, &call->failure))
        code = SQLITE_OK;
    for (size_t i = 0; code == SQLITE_OK && i < trace.count; i++) {
        struct trace_member *member = &trace.members[i];
        const unsigned char *chosen = choice.everything ? NULL : choice.chosen[i];
        if (member->chosen)
            code = add_file(call, keyed,
                            &(struct keyed_request){member->file, chosen, device_type, side, NULL});
    }
    *steps = choice.steps;
    step_choice_clear(&trace, &choice);
    trace_close(&trace);
    paths_clear(&paths);
    selection_clear(&ranks);
    selection_clear(&iterations);
    return code;
}

/* A statement that makes of the values of the keys what stands for them. */
static int prepare_key(sqlite3 *db, const struct keyed *keyed, sqlite3_stmt **statement)
{
    sqlite3_str *text = sqlite3_str_new(db);
    sqlite3_str_appendall(text, "SELECT CASE WHEN coalesce(NULL");
    for (size_t i = 0; i < keyed->width; i++)
        sqlite3_str_appendf(text, ", ?%d", (int)i + 1);
    sqlite3_str_appendall(text, ") IS NOT NULL THEN ''");
    for (size_t i = 0; i < keyed->width; i++)
        sqlite3_str_appendf(text, "%s || coalesce(?%d, '')", i > 0 ? " || ' | '" : "", (int)i + 1);
    sqlite3_str_appendall(text, " END, json_object(");
    for (size_t i = 0; i < keyed->width; i++) {
        const char *form = "?%d";
        if (keyed->keys[i] == KEY_STREAM)
            form = "CAST(?%d AS INTEGER)";
        else if (keyed->keys[i] == KEY_SHAPES)
            form = "CASE WHEN json_valid(?%d) THEN json(?%d) ELSE ?%d END";
        sqlite3_str_appendf(text, "%s'%s', ", i > 0 ? ", " : "", key_names[keyed->keys[i]]);
        sqlite3_str_appendf(text, form, (int)i + 1, (int)i + 1, (int)i + 1);
    }
    sqlite3_str_appendall(text, ")");
    char *sql = sqlite3_str_finish(text);
    if (!sql)
        return SQLITE_NOMEM;
    int code = sqlite3_prepare_v2(db, sql, -1, statement, NULL);
    sqlite3_free(sql);
    return code;
}

static int add_key(struct result *result, const struct keyed *keyed, const uint32_t *ids,
                   sqlite3_stmt *statement)
{
    int code = sqlite3_reset(statement);
    for (size_t i = 0; i < keyed->width && code == SQLITE_OK; i++) {
        const struct name *name = ids[i] == NAME_NONE ? NULL : &keyed->names.items[ids[i]];
        code = name ? sqlite3_bind_text64(statement, (int)i + 1, name->text, name->length,
                                          SQLITE_STATIC, SQLITE_UTF8)
                    : sqlite3_bind_null(statement, (int)i + 1);
    }
    if (code == SQLITE_OK)
        code = sqlite3_step(statement);
    if (code != SQLITE_ROW)
        return code;
    for (int i = 0; i < 2; i++)
        result_value(result, sqlite3_column_value(statement, i));
    return SQLITE_OK;
}

/* us a step, of both sides and their difference. */
static void add_both(struct result *result, wide_time control, wide_time test, const int64_t *steps)
{
    result_real(result, mean_microseconds(control, steps[0]));
    result_real(result, mean_microseconds(test, steps[1]));
    result_real(result, mean_difference(control, steps[0], test, steps[1]));
}

/* A key with its sums a step: what rows are sorted by. */
struct sortable {
    const struct keyed *keyed;
    size_t row;
    double change;      /* us, of device time */
    double self_change; /* us, of own time on the host */
};

static double size_of(double x)
{
    return x < 0 ? -x : x;
}

/* |diff_device_time| descending, then |diff_self_time|, then by the keys; NULL first. */
static int sortable_order(const void *a, const void *b)
{
    const struct sortable *x = a, *y = b;
    if (size_of(x->change) != size_of(y->change))
        return size_of(x->change) > size_of(y->change) ? -1 : 1;
    if (size_of(x->self_change) != size_of(y->self_change))
        return size_of(x->self_change) > size_of(y->self_change) ? -1 : 1;
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

static void add_sums(struct result *result, const struct keyed_sums *sums, const int64_t *steps)
{
    double counts[2], mean[2];
    for (int side = 0; side < 2; side++) { /* a key on one side only is all counts */
        const struct keyed_sums *of = &sums[sums[side].runs > 0 ? side : !side];
        counts[side] = (double)sums[side].runs / (double)steps[side];
        mean[side] = of->runs > 0 ? mean_microseconds(of->device_time, of->runs) : 0;
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

static int add_rows(struct call *call, const struct keyed *keyed, const int64_t *steps,
                    struct rows **rows)
{
    const struct stopper *stopper = &call->database->cache.stopper;
    sqlite3_stmt *statement = NULL;
    struct result *result = NULL;
    struct sortable *order = memory_zeroed(keyed->count, sizeof *order);
    int code = order ? prepare_key(call->database->db, keyed, &statement) : SQLITE_NOMEM;
    for (size_t i = 0; code == SQLITE_OK && i < keyed->count; i++) {
        const struct keyed_sums *sums = keyed->sums[i];
        order[i] = (struct sortable){
            keyed, i, mean_difference(sums[0].device_time, steps[0], sums[1].device_time, steps[1]),
            mean_difference(sums[0].self_time, steps[0], sums[1].self_time, steps[1])};
    }
    if (code == SQLITE_OK &&
        !sort_items(order, keyed->count, sizeof *order, sortable_order, stopper, &call->failure))
        code = SQLITE_ERROR;
    if (code == SQLITE_OK)
        result = result_new(call->function->column_count);
    for (size_t i = 0; code == SQLITE_OK && i < keyed->count; i++) {
        size_t row = order[i].row;
        code = add_key(result, keyed, keyed->ids + row * keyed->width, statement);
        if (code == SQLITE_OK)
            add_sums(result, keyed->sums[row], steps);
    }
    if (code == SQLITE_OK) {
        *rows = result_finish(result);
        result = NULL;
        code = *rows ? SQLITE_OK : SQLITE_NOMEM;
    } else if (code != SQLITE_NOMEM && code != SQLITE_INTERRUPT &&
               call->failure.code == FAILURE_NONE) {
        failure_set(&call->failure, FAILURE_REQUEST, "%s", sqlite3_errmsg(call->database->db));
        code = SQLITE_ERROR;
    }
    result_free(result);
    sqlite3_finalize(statement);
    memory_free(order);
    return code;
}

static int diff_by_produce(struct call *call, struct rows **rows)
{
    struct keyed keyed = {.width = 0};
    enum device_type device_type;
    int use_short_name = 2, code = SQLITE_ERROR;
    int64_t steps[2];
    int chosen[KEY_COUNT];
    if (argument_words(call, KEYS, key_names, KEY_COUNT,
                       "one or more of op, top_op, module, annotation, kernel, kernel_type, cat, "
                       "stream, shapes and name, between commas",
                       chosen, &keyed.width) &&
        argument_device_type(call, DEVICE, &device_type) &&
        (!call->values[SHORT_NAME] || argument_use_short_name(call, SHORT_NAME, &use_short_name)))
        code = SQLITE_OK;
    for (size_t i = 0; i < keyed.width; i++)
        keyed.keys[i] = (enum key)chosen[i];
    keyed.rename = use_short_name == 2 ? name_stable : use_short_name == 1 ? name_short : NULL;
    for (int side = 0; side < 2 && code == SQLITE_OK; side++)
        code = add_side(call, side, device_type, &keyed, &steps[side]);
    if (code == SQLITE_OK)
        code = add_rows(call, &keyed, steps, rows);
    keyed_clear(&keyed);
    return code;
}

const struct table_function trace_diff_by_function = {
    .name = "trace_diff_by",
    .text = "device work and host time of two traces side by side, by op, shapes, module ...",
    .columns = columns_of_diff_by,
    .column_count = COUNT_OF(columns_of_diff_by),
    .arguments = arguments_of_diff_by,
    .argument_count = COUNT_OF(arguments_of_diff_by),
    .reads_files = true,
    .produce = diff_by_produce,
};
