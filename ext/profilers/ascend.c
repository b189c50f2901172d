#include "ascend.h"

#include <string.h>

#include "text/ascii.h"
#include "base/memory.h"
#include "text/number.h"
#include "naming/step_form.h"

static const char *const table_names[ASCEND_TABLES] = {[ASCEND_API] = "PYTORCH_API",
                                                       [ASCEND_CANN] = "CANN_API",
                                                       [ASCEND_TASK] = "TASK",
                                                       [ASCEND_COLLECTIVE] = "COMMUNICATION_OP",
                                                       [ASCEND_STEP] = "STEP_TIME"};

enum { START, END, OWN };
enum { CALL_THREAD = OWN, CALL_CONNECTION, CALL_NAME, CALL_TYPE };
enum { WORK_DEVICE = OWN, WORK_CONNECTION, TASK_ID, TASK_TYPE, TASK_STREAM };
enum { COLLECTIVE_NAME = WORK_CONNECTION + 1 };
enum { STEP_ID = OWN };

#define TIMES "startNs", "endNs"

static const char *const call_columns[] = {TIMES,  "globalTid", "connectionId",
                                           "name", "type",      NULL};
static const char *const task_columns[] = {
    TIMES, "deviceId", "connectionId", "globalTaskId", "taskType", "streamId", NULL};
static const char *const collective_columns[] = {TIMES, "deviceId", "connectionId", "opName", NULL};
static const char *const step_columns[] = {TIMES, "id", NULL};
static const char *const api_args[] = {"sequenceNumber", "fwdThreadId", "inputShapes",
                                       "inputDtypes", NULL};
static const char *const no_args[] = {NULL};

enum { TYPE_OPERATOR = 50001, TYPE_QUEUE, TYPE_PYTHON, TYPE_MARK, TYPE_NODE = 10000 };

enum ascend_cat {
    CAT_OPERATOR,
    CAT_ANNOTATION,
    CAT_PYTHON,
    CAT_ENQUEUE,
    CAT_DEQUEUE,
    CAT_QUEUE,
    CAT_LAUNCH,
    CAT_CANN,
    CAT_KERNEL,
    CAT_COPY,
    CAT_NONE
};

static const char *const cat_names[] = {
    [CAT_OPERATOR] = "cpu_op",        [CAT_ANNOTATION] = "user_annotation",
    [CAT_PYTHON] = "python_function", [CAT_ENQUEUE] = "enqueue_runtime",
    [CAT_DEQUEUE] = "dequeue",        [CAT_QUEUE] = "queue",
    [CAT_LAUNCH] = "cann_runtime",    [CAT_CANN] = "cann",
    [CAT_KERNEL] = "kernel",          [CAT_COPY] = "gpu_memcpy"};

/* Uses of strings, and the properties of strings. */
enum { AS_NAME, AS_TYPE };
enum { IS_ENQUEUE = 1, IS_DEQUEUE = 2, IS_LAUNCH = 4, IS_STEP = 8, IS_COPY = 16 };

static bool is_ascend(const struct readonly *readonly)
{
    return readonly_table(readonly, "STRING_IDS") &&
           (readonly_table(readonly, "PYTORCH_API") || readonly_table(readonly, "TASK"));
}

static bool open_ascend(struct database_read *read, const void *head)
{
    struct ascend *ascend = read->state = memory_zeroed(1, sizeof *ascend);
    (void)head;
    if (!ascend)
        return failure_memory(read->failure);
    ascend->rank = -1;
    ascend->device = ascend->pid = ascend->tid = NUMBER_NONE;
    read->table_count = ASCEND_TABLES;
    for (int kind = 0; kind < ASCEND_TABLES; kind++)
        read->tables[kind] = (struct event_table){
            .table = readonly_table(read->readonly, table_names[kind]), .kind = kind};
    return strings_open(&ascend->strings, read->readonly,
                        readonly_table(read->readonly, "STRING_IDS"), "id", "value", read->failure);
}

/* The rank from the digits before `.db` at the end of a path; -1 without any or too many (H2). */
static int64_t rank_in_name(const char *path)
{
    enum { MOST = 9 };
    const char *end = path + strlen(path), *start;
    int64_t rank = -1;
    if (!ends(path, end, ".db"))
        return -1;
    end -= sizeof ".db" - 1;
    for (start = end; start > path && is_digit(start[-1]);)
        start--;
    if (end - start > MOST)
        return -1;
    while (end - start > 1 && *start == '0')
        start++;
    number_integer((const unsigned char *)start, (size_t)(end - start), &rank);
    return rank;
}

static bool take_rank(struct database_read *read, const struct table_scan *scan)
{
    struct ascend *ascend = read->state;
    int64_t rank = scan_integer(scan, 0), device = scan_integer(scan, 1);
    if (ascend->rank < 0 && (rank >= 0 || ascend->device == NUMBER_NONE))
        ascend->device = device;
    if (ascend->rank < 0 && rank >= 0)
        ascend->rank = rank;
    return true;
}

static bool take_schema(struct database_read *read, const struct table_scan *scan)
{
    struct ascend *ascend = read->state;
    size_t name_length, length;
    const unsigned char *name = scan_text(scan, 0, &name_length);
    const unsigned char *value = scan_text(scan, 1, &length);
    if (!name || !value || ascend->schema ||
        !text_is((const char *)name, name_length, "SCHEMA_VERSION"))
        return true;
    ascend->schema = memory_allocate(length + 1);
    if (!ascend->schema)
        return failure_memory(read->failure);
    memcpy(ascend->schema, value, length);
    ascend->schema_length = length;
    return true;
}

static bool describe_ascend(struct database_read *read, sqlite3_str *metadata)
{
    static const char *const ranks[] = {"rankId", "deviceId", NULL};
    static const char *const names[] = {"name", "value", NULL};
    struct trace_file *file = read->file;
    struct ascend *ascend = read->state;
    const struct readonly *readonly = read->readonly;
    if (!database_each(read, readonly_table(readonly, "RANK_DEVICE_MAP"), ranks, NULL, take_rank) ||
        !database_each(read, readonly_table(readonly, "META_DATA"), names, NULL, take_schema))
        return false;
    file->has_base = true; /* its times are ns since 1970 */
    file->rank_source = RANK_DATABASE;
    file->rank = ascend->rank >= 0 ? ascend->rank : rank_in_name(file->path);
    return args_text(metadata, "schema", (const unsigned char *)ascend->schema,
                     ascend->schema_length, read->failure);
}

static bool join(struct database_read *read)
{
    static const char *const numbers[] = {"id", "connectionId", NULL};
    static const char *const kernels[] = {"globalTaskId", "name", NULL};
    struct ascend *ascend = read->state;
    const struct readonly *readonly = read->readonly;
    ascend->joined = true;
    return ids_read(&ascend->numbers, read, readonly_table(readonly, "CONNECTION_IDS"), numbers) &&
           ids_read(&ascend->kernels, read, readonly_table(readonly, "COMPUTE_TASK_INFO"), kernels);
}

static bool is_step(const char *text, size_t length)
{
    const char *end = text + length, *digits = step_digits(text, end);
    int64_t number;
    while (digits && digits + 1 < end && *digits == '0')
        digits++;
    return digits && number_integer((const unsigned char *)digits, (size_t)(end - digits), &number);
}

static bool make_name(void *owner, struct string_use *use, const unsigned char *text, size_t length,
                      struct failure *failure)
{
    const char *name = (const char *)text;
    (void)failure;
    if (!text)
        return true;
    use->what = begins(name, name + length, "Enqueue") * IS_ENQUEUE |
                begins(name, name + length, "Dequeue") * IS_DEQUEUE |
                text_is(name, length, "launch") * IS_LAUNCH | is_step(name, length) * IS_STEP;
    return database_name(owner, text, length, &use->name);
}

static bool make_type(void *owner, struct string_use *use, const unsigned char *text, size_t length,
                      struct failure *failure)
{
    (void)owner, (void)failure;
    use->what = text && text_is((const char *)text, length, "MEMCPY_ASYNC") ? IS_COPY : 0;
    return true;
}

static bool use_string(struct database_read *read, int64_t id, int how, string_maker *make,
                       struct string_use *use)
{
    struct ascend *ascend = read->state;
    return database_string(read, &ascend->strings, id, how, make, use);
}

static bool cat_of(struct database_read *read, enum ascend_cat cat, uint32_t *id)
{
    struct ascend *ascend = read->state;
    *id = NAME_NONE;
    return cat == CAT_NONE || database_kept_name(read, cat_names[cat], &ascend->cats[cat], id);
}

/* Reads a connection; NUMBER_NONE for the values that mean none. */
static int64_t connection_in(const struct table_scan *scan, int column)
{
    int64_t connection = scan_integer(scan, column);
    return connection == -1 || connection == UINT32_MAX ? NUMBER_NONE : connection;
}

/* Keeps a span for ascend_pair(), with the times of a row. */
static bool keep_span(struct database_read *read, const struct database_row *row,
                      struct ascend_span span)
{
    struct ascend *ascend = read->state;
    if (!MEMORY_GROW(ascend->spans, ascend->span_capacity, ascend->span_count + 1))
        return failure_memory(read->failure);
    span.start = row->ts;
    span.end = row->dur > 0 ? row->ts + row->dur : row->ts;
    span.order = (uint32_t)ascend->span_count;
    ascend->spans[ascend->span_count++] = span;
    return true;
}

/* Fills in the common columns of calls. */
static bool read_call(struct database_read *read, const struct table_scan *scan, int64_t event,
                      struct database_row *row, struct string_use *name)
{
    int64_t thread = scan_integer(scan, CALL_THREAD);
    bool known = thread != NUMBER_NONE;
    if (!use_string(read, scan_integer(scan, CALL_NAME), AS_NAME, make_name, name))
        return false;
    *row = (struct database_row){.event = event,
                                 .correlation = NUMBER_NONE,
                                 .stream = NUMBER_NONE,
                                 .pid = known ? (int64_t)((uint64_t)thread >> 32) : NUMBER_NONE,
                                 .tid = known ? thread & UINT32_MAX : NUMBER_NONE,
                                 .name = name->name,
                                 .phase = 'X'};
    database_times(read, scan_integer(scan, START), scan_integer(scan, END), true, &row->ts,
                   &row->dur);
    ((struct ascend *)read->state)->has_steps |= (name->what & IS_STEP) != 0;
    return true;
}

static enum ascend_cat api_cat(int64_t type, int name)
{
    switch (type) {
    case TYPE_OPERATOR:
        return name & IS_STEP ? CAT_ANNOTATION : CAT_OPERATOR;
    case TYPE_QUEUE:
        return name & IS_ENQUEUE ? CAT_ENQUEUE : name & IS_DEQUEUE ? CAT_DEQUEUE : CAT_QUEUE;
    case TYPE_PYTHON:
        return CAT_PYTHON;
    case TYPE_MARK:
        return CAT_ANNOTATION;
    default:
        return CAT_NONE;
    }
}

static bool api_row(struct database_read *read, const struct table_scan *scan, int64_t event)
{
    struct ascend *ascend = read->state;
    struct database_row row;
    struct string_use name;
    int64_t type = scan_integer(scan, CALL_TYPE);
    int64_t number = ids_value(&ascend->numbers, scan_integer(scan, CALL_CONNECTION), 0);
    if (!read_call(read, scan, event, &row, &name))
        return false;
    enum ascend_cat cat = api_cat(type, name.what);
    if (cat == CAT_ENQUEUE)
        row.correlation = number;
    if (type == TYPE_OPERATOR && ascend->pid == NUMBER_NONE) {
        ascend->pid = row.pid;
        ascend->tid = row.tid;
    }
    if (cat == CAT_DEQUEUE && row.pid != NUMBER_NONE && row.ts != NUMBER_NONE && row.dur >= 0 &&
        !keep_span(read, &row,
                   (struct ascend_span){.thread = scan_integer(scan, CALL_THREAD),
                                        .connection = NUMBER_NONE,
                                        .number = number}))
        return false;
    return cat_of(read, cat, &row.cat) && database_add(read, &row);
}

static bool cann_row(struct database_read *read, const struct table_scan *scan, int64_t event)
{
    struct database_row row;
    struct string_use name;
    int64_t connection = connection_in(scan, CALL_CONNECTION);
    if (!read_call(read, scan, event, &row, &name))
        return false;
    bool launch = scan_integer(scan, CALL_TYPE) == TYPE_NODE && name.what & IS_LAUNCH;
    if (launch)
        row.correlation = connection;
    if (connection != NUMBER_NONE &&
        !keep_span(read, &row,
                   (struct ascend_span){.thread = scan_integer(scan, CALL_THREAD),
                                        .connection = connection,
                                        .number = NUMBER_NONE,
                                        .of_cann = true,
                                        .launch = launch}))
        return false;
    return cat_of(read, launch ? CAT_LAUNCH : CAT_CANN, &row.cat) && database_add(read, &row);
}

/* Adds device work with known name, device, stream and thread. */
static bool add_work(struct database_read *read, const struct table_scan *scan, enum ascend_cat cat,
                     struct database_row *row)
{
    struct ascend *ascend = read->state;
    int64_t connection = connection_in(scan, WORK_CONNECTION);
    if (!ascend->paired && !ascend_pair(read))
        return false;
    row->correlation = ids_value(&ascend->correlations, connection, 0);
    if (row->correlation == NUMBER_NONE)
        row->correlation = connection;
    row->phase = 'X';
    database_times(read, scan_integer(scan, START), scan_integer(scan, END), true, &row->ts,
                   &row->dur);
    return cat_of(read, cat, &row->cat) && database_add(read, row);
}

/* Handles a task (H5). */
static bool task_row(struct database_read *read, const struct table_scan *scan, int64_t event)
{
    static const char copy[] = "MEMCPY_ASYNC";
    const struct ascend *ascend = read->state;
    int64_t stream = scan_integer(scan, TASK_STREAM), id = scan_integer(scan, TASK_ID);
    const struct id_row *kernel = id == NUMBER_NONE ? NULL : ids_find(&ascend->kernels, id);
    struct database_row row = {
        .event = event, .stream = stream, .pid = scan_integer(scan, WORK_DEVICE), .tid = stream};
    struct string_use use;
    if (!kernel) {
        if (!use_string(read, scan_integer(scan, TASK_TYPE), AS_TYPE, make_type, &use))
            return false;
        return !use.what || (database_name(read, copy, sizeof copy - 1, &row.name) &&
                             add_work(read, scan, CAT_COPY, &row));
    }
    if (!use_string(read, kernel->values[0], AS_NAME, make_name, &use))
        return false;
    row.name = use.name;
    return add_work(read, scan, CAT_KERNEL, &row);
}

static bool collective_row(struct database_read *read, const struct table_scan *scan, int64_t event)
{
    static const char thread[] = "Communication";
    const struct ascend *ascend = read->state;
    struct string_use name;
    uint32_t tid;
    int64_t device = scan_integer(scan, WORK_DEVICE);
    if (!use_string(read, scan_integer(scan, COLLECTIVE_NAME), AS_NAME, make_name, &name) ||
        !database_name(read, thread, sizeof thread - 1, &tid))
        return false;
    struct database_row row = {.event = event,
                               .stream = NUMBER_NONE,
                               .pid = device == NUMBER_NONE ? ascend->device : device,
                               .tid = tid,
                               .named_thread = true,
                               .name = name.name};
    return add_work(read, scan, CAT_KERNEL, &row);
}

/* Handles a step (H7). */
static bool step_row(struct database_read *read, const struct table_scan *scan, int64_t event)
{
    const struct ascend *ascend = read->state;
    int64_t id = scan_integer(scan, STEP_ID);
    char text[40];
    struct database_row row = {.event = event,
                               .correlation = NUMBER_NONE,
                               .stream = NUMBER_NONE,
                               .pid = ascend->pid,
                               .tid = ascend->tid,
                               .name = NAME_NONE,
                               .phase = 'X'};
    if (ascend->has_steps)
        return true;
    sqlite3_snprintf(sizeof text, text, "ProfilerStep#%lld", (long long)id);
    database_times(read, scan_integer(scan, START), scan_integer(scan, END), true, &row.ts,
                   &row.dur);
    return (id == NUMBER_NONE || database_name(read, text, strlen(text), &row.name)) &&
           cat_of(read, CAT_ANNOTATION, &row.cat) && database_add(read, &row);
}

static bool ascend_row(struct database_read *read, int kind, const struct table_scan *scan,
                       int64_t event)
{
    static bool (*const rows[])(struct database_read *, const struct table_scan *,
                                int64_t) = {[ASCEND_API] = api_row,
                                            [ASCEND_CANN] = cann_row,
                                            [ASCEND_TASK] = task_row,
                                            [ASCEND_COLLECTIVE] = collective_row,
                                            [ASCEND_STEP] = step_row};
    const struct ascend *ascend = read->state;
    read->file->events++;
    return (ascend->joined || join(read)) && rows[kind](read, scan, event);
}

static bool has_columns(struct database_read *read, const struct event_table *table)
{
    return database_has(read, table->table, "startNs");
}

static void settle_ascend(void *state)
{
    struct ascend *ascend = state;
    strings_close(&ascend->strings);
    ids_clear(&ascend->numbers);
    ids_clear(&ascend->kernels);
    ids_clear(&ascend->correlations);
    memory_free(ascend->spans);
    ascend->spans = NULL;
}

static void free_ascend(void *state)
{
    struct ascend *ascend = state;
    memory_free(ascend->schema);
    memory_free(ascend);
}

const struct profiler ascend_profiler = {.name = "torch_npu",
                                         .columns = {[ASCEND_API] = call_columns,
                                                     [ASCEND_CANN] = call_columns,
                                                     [ASCEND_TASK] = task_columns,
                                                     [ASCEND_COLLECTIVE] = collective_columns,
                                                     [ASCEND_STEP] = step_columns},
                                         .arg_columns = {[ASCEND_API] = api_args,
                                                         [ASCEND_CANN] = no_args,
                                                         [ASCEND_TASK] = no_args,
                                                         [ASCEND_COLLECTIVE] = no_args,
                                                         [ASCEND_STEP] = no_args},
                                         .is = is_ascend,
                                         .open = open_ascend,
                                         .describe = describe_ascend,
                                         .complete = has_columns,
                                         .row = ascend_row,
                                         .args = ascend_args,
                                         .settle = settle_ascend,
                                         .free_state = free_ascend};
