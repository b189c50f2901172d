#include "nsys.h"

#include <string.h>

#include "text/ascii.h"
#include "base/memory.h"
#include "text/text.h"

static const char *const table_names[NSYS_TABLES] = {
    [NSYS_NVTX] = "NVTX_EVENTS",
    [NSYS_RUNTIME] = "CUPTI_ACTIVITY_KIND_RUNTIME",
    [NSYS_KERNEL] = "CUPTI_ACTIVITY_KIND_KERNEL",
    [NSYS_MEMCPY] = "CUPTI_ACTIVITY_KIND_MEMCPY",
    [NSYS_MEMSET] = "CUPTI_ACTIVITY_KIND_MEMSET",
    [NSYS_GRAPH] = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
    [NSYS_SYNC] = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"};

#define NO_EVENTS "no events: the export of Nsight Systems "
#define ACTIVITIES                                                              \
    "CUPTI_ACTIVITY_KIND_RUNTIME, _KERNEL, _MEMCPY, _MEMSET, _GRAPH_TRACE and " \
    "_SYNCHRONIZATION; record with nsys profile -t cuda,nvtx"
#define WORK "start", "end", "deviceId", "streamId", "contextId", "correlationId", "globalPid"
#define KERNEL WORK, "demangledName", "shortName", "mangledName"
#define MEMCPY WORK, "copyKind", "srcKind", "dstKind"

static const char *const nvtx_columns[] = {"start",  "end",       "eventType", "text",
                                           "textId", "globalTid", "domainId",  NULL};
static const char *const call_columns[] = {"start",     "end",           "eventClass", "nameId",
                                           "globalTid", "correlationId", NULL};
static const char *const call_args[] = {"start",     "end",           "eventClass",  "nameId",
                                        "globalTid", "correlationId", "returnValue", NULL};
static const char *const kernel_columns[] = {KERNEL, NULL};
static const char *const kernel_args[] = {KERNEL,
                                          "registersPerThread",
                                          "staticSharedMemory",
                                          "dynamicSharedMemory",
                                          "gridX",
                                          "gridY",
                                          "gridZ",
                                          "blockX",
                                          "blockY",
                                          "blockZ",
                                          "graphNodeId",
                                          NULL};
static const char *const memcpy_columns[] = {MEMCPY, NULL};
static const char *const memcpy_args[] = {MEMCPY, "bytes", "graphNodeId", NULL};
static const char *const work_columns[] = {WORK, NULL};
static const char *const memset_args[] = {WORK, "bytes", "graphNodeId", NULL};
static const char *const graph_args[] = {WORK, "graphId", "graphExecId", NULL};
static const char *const sync_columns[] = {WORK, "syncType", NULL};

enum nsys_cat {
    CAT_OPERATOR,
    CAT_ANNOTATION,
    CAT_RUNTIME,
    CAT_DRIVER,
    CAT_KERNEL,
    CAT_MEMCPY,
    CAT_MEMSET,
    CAT_SYNC,
    CATS
};

static const char *const cat_names[CATS] = {
    [CAT_OPERATOR] = "cpu_op",      [CAT_ANNOTATION] = "user_annotation",
    [CAT_RUNTIME] = "cuda_runtime", [CAT_DRIVER] = "cuda_driver",
    [CAT_KERNEL] = "kernel",        [CAT_MEMCPY] = "gpu_memcpy",
    [CAT_MEMSET] = "gpu_memset",    [CAT_SYNC] = "cuda_sync"};

/* Uses of strings. */
enum { AS_RANGE, AS_CALL, AS_KERNEL };

static bool is_nsys(const struct readonly *readonly)
{
    bool events = false;
    for (int kind = 0; kind < NSYS_TABLES; kind++)
        events = events || nsys_table(readonly, table_names[kind]);
    return (events && readonly_table(readonly, "StringIds")) ||
           readonly_table(readonly, "META_DATA_EXPORT") ||
           readonly_table(readonly, "EXPORT_META_DATA");
}

static bool open_nsys(struct database_read *read, const void *head)
{
    const struct nsys *known = head;
    struct nsys *nsys = read->state = memory_zeroed(1, sizeof *nsys);
    if (!nsys)
        return failure_memory(read->failure);
    nsys->word = NVTX_NO_WORD;
    read->table_count = NSYS_TABLES;
    for (int kind = 0; kind < NSYS_TABLES; kind++)
        read->tables[kind] = (struct event_table){
            .table = nsys_table(read->readonly, table_names[kind]), .kind = kind};
    if (!strings_open(&nsys->strings, read->readonly, readonly_table(read->readonly, "StringIds"),
                      "id", "value", read->failure))
        return false;
    if (!known || !known->based)
        return nsys_look(read);
    nsys->based = true;
    nsys->base = known->base;
    nsys->parts = memory_zeroed(known->part_count, sizeof *nsys->parts);
    if (!nsys->parts)
        return failure_memory(read->failure);
    nsys->part_count = nsys->part_capacity = known->part_count;
    if (known->part_count > 0)
        memcpy(nsys->parts, known->parts, known->part_count * sizeof *nsys->parts);
    return true;
}

/* Writes the versions to the metadata (G12). */
static bool write_versions(struct database_read *read, sqlite3_str *metadata)
{
    static const char *const columns[] = {"name", "value", NULL};
    struct table_scan scan = {.statement = NULL};
    struct readonly_table *table = readonly_table(read->readonly, "META_DATA_EXPORT");
    if (!table)
        table = readonly_table(read->readonly, "EXPORT_META_DATA");
    if (!table)
        return true;
    bool done = scan_open(&scan, read->readonly, table, columns, NULL, read->failure);
    enum scanned scanned = SCANNED_END;
    while (done && ((scanned = scan_next(&scan, read->failure)) == SCANNED_ROW ||
                    scanned == SCANNED_LONG)) {
        size_t name_length = 0, length = 0;
        const unsigned char *name = NULL, *value = NULL;
        if (scanned == SCANNED_ROW) {
            name = scan_text(&scan, 0, &name_length);
            value = scan_text(&scan, 1, &length);
        }
        if (name && text_is((const char *)name, name_length, "EXPORT_PRODUCT_VERSION"))
            done = args_text(metadata, "version", value, length, read->failure);
        if (name && text_is((const char *)name, name_length, "EXPORT_SCHEMA_VERSION"))
            done = args_text(metadata, "schema", value, length, read->failure);
    }
    scan_close(&scan);
    return done && scanned == SCANNED_END && read->readonly->trouble.code == FAILURE_NONE;
}

static bool describe_nsys(struct database_read *read, sqlite3_str *metadata)
{
    struct trace_file *file = read->file;
    struct nsys *nsys = read->state;
    nsys->part = file->part;
    file->rank_source = RANK_DATABASE;
    file->has_base = nsys->base != NUMBER_NONE;
    file->base = file->has_base ? nsys->base : 0;
    if (nsys->part_count > 0) {
        file->part_count = nsys->part_count;
        file->parts = memory_zeroed(nsys->part_count, sizeof *file->parts);
        if (!file->parts)
            return failure_memory(read->failure);
        for (size_t i = 0; i < nsys->part_count; i++)
            file->parts[i] = nsys->parts[i].rank;
        file->rank = file->parts[file->part];
    }
    if (!write_versions(read, metadata))
        return false;
    if (nsys->part_count > 0)
        args_integer(metadata, "pid", nsys->parts[file->part].process & 0xffffff);
    return true;
}

/* Whether a row of a process belongs to the part. The first part counts rows outside all parts. */
static bool belongs(struct database_read *read, int64_t process)
{
    const struct nsys *nsys = read->state;
    bool own = nsys->part_count < 2 || nsys->parts[nsys->part].process == process;
    bool others = nsys->part > 0;
    for (size_t i = 1; i < nsys->part_count && !own && !others; i++)
        others = nsys->parts[i].process == process;
    if (!own && !others)
        problem_add(&read->file->problems, PROBLEM_OTHER_PROCESS, 0);
    read->file->events += own || !others;
    return own;
}

/* The correlation of a row, unique among processes (N9). */
static int64_t correlation_of(const struct nsys *nsys, int64_t process, int64_t correlation)
{
    return nsys->part_count > 0 && nsys->parts[nsys->part].process == process ? correlation
                                                                              : NUMBER_NONE;
}

static bool cat_of(struct database_read *read, enum nsys_cat cat, uint32_t *id)
{
    struct nsys *nsys = read->state;
    return database_kept_name(read, cat_names[cat], &nsys->cats[cat], id);
}

/* Makes a range. `what`: 2 * step word + 2, plus 1 for an operator (N7, N10). */
static bool make_range(void *owner, struct string_use *use, const unsigned char *text,
                       size_t length, struct failure *failure)
{
    struct database_read *read = owner;
    struct nvtx_text parts;
    const unsigned char *name;
    int64_t number;
    (void)failure;
    use->what = 0;
    if (!text)
        return true;
    size_t marker = nvtx_marker(text, length, &name);
    if (marker > 0)
        return database_name(read, name, marker, &use->name);
    nvtx_read(text, length, &parts);
    use->what =
        2 * (nvtx_step(text, parts.name_length, &number) + 1) + nvtx_is_operator(text, &parts);
    return database_name(read, text, parts.name_length, &use->name);
}

/* Makes a call. `what`: whether it is a driver call. Drops the version from the name (N8). */
static bool make_call(void *owner, struct string_use *use, const unsigned char *text, size_t length,
                      struct failure *failure)
{
    enum { FEWEST = 4, MOST = 5 };
    size_t digits = 0;
    (void)failure;
    if (!text)
        return true;
    while (digits < length && is_digit(text[length - 1 - digits]))
        digits++;
    if (digits >= FEWEST && digits <= MOST &&
        ends((const char *)text, (const char *)text + length - digits, "_v"))
        length -= digits + 2;
    use->what = length > 2 && text[0] == 'c' && text[1] == 'u' && is_capital(text[2]);
    return database_name(owner, text, length, &use->name);
}

/* Makes a kernel. `<unnamed>` becomes Kineto's form (N12). */
static bool make_kernel(void *owner, struct string_use *use, const unsigned char *text,
                        size_t length, struct failure *failure)
{
    static const char unnamed[] = "<unnamed>", anonymous[] = "(anonymous namespace)";
    if (!text)
        return true;
    if (length < sizeof unnamed - 1)
        return database_name(owner, text, length, &use->name);
    char *name = memory_allocate(length * (sizeof anonymous - 1) / (sizeof unnamed - 1) + 1);
    if (!name)
        return failure_memory(failure);
    size_t used = 0;
    for (size_t i = 0; i < length;) {
        if (length - i >= sizeof unnamed - 1 &&
            memcmp(text + i, unnamed, sizeof unnamed - 1) == 0) {
            memcpy(name + used, anonymous, sizeof anonymous - 1);
            used += sizeof anonymous - 1;
            i += sizeof unnamed - 1;
        } else {
            name[used++] = (char)text[i++];
        }
    }
    bool done = database_name(owner, name, used, &use->name);
    memory_free(name);
    return done;
}

/* Keeps the name of a domain. */
static bool take_domain(struct database_read *read, const struct table_scan *scan, int64_t process)
{
    struct nsys *nsys = read->state;
    const unsigned char *text;
    size_t length;
    if (!nsys_text(read, scan, &text, &length))
        return false;
    if (!text)
        return true;
    if (!MEMORY_GROW(nsys->domains, nsys->domain_capacity, nsys->domain_count + 1))
        return failure_memory(read->failure);
    char *name = text_repaired((const char *)text, &length);
    if (!name)
        return failure_memory(read->failure);
    nsys->domains[nsys->domain_count++] =
        (struct nsys_domain){process, scan_integer(scan, NVTX_DOMAIN), name, length};
    return true;
}

static bool range_row(struct database_read *read, const struct table_scan *scan, int64_t event)
{
    struct nsys *nsys = read->state;
    struct string_use own = {.name = NAME_NONE};
    const struct string_use *use = &own;
    int64_t process;
    size_t length;
    if (!nsys_process(read, scan, NVTX_THREAD, &process))
        return false;
    if (!belongs(read, process))
        return true;
    int64_t type = scan_integer(scan, NVTX_TYPE);
    bool ranged = type == NVTX_PUSH || type == NVTX_RANGE;
    if (type == NVTX_DOMAINS)
        return take_domain(read, scan, process);
    if (!ranged && type != NVTX_MARK)
        return true;
    const unsigned char *text = scan_text(scan, NVTX_TEXT, &length);
    if (text && !make_range(read, &own, text, length, read->failure))
        return false;
    if (!text)
        use = strings_use(&nsys->strings, scan_integer(scan, NVTX_TEXT_ID), AS_RANGE, make_range,
                          read, read->failure);
    if (!use)
        return false;
    bool ended = ranged && !scan_is_null(scan, NVTX_END);
    int64_t thread = scan_integer(scan, NVTX_THREAD);
    struct database_row row = {.event = event,
                               .correlation = NUMBER_NONE,
                               .stream = NUMBER_NONE,
                               .pid = process & 0xffffff,
                               .tid = thread == NUMBER_NONE ? NUMBER_NONE : thread & 0xffffff,
                               .name = use->name,
                               .phase = !ranged ? 'i'
                                        : ended ? 'X'
                                                : 'B'};
    database_times(read, scan_integer(scan, NVTX_START), scan_integer(scan, NVTX_END), ended,
                   &row.ts, &row.dur);
    if (row.phase == 'B')
        problem_add(&read->file->problems, PROBLEM_BEGIN_WITHOUT_END, 0);
    if (!cat_of(read, use->what % 2 ? CAT_OPERATOR : CAT_ANNOTATION, &row.cat))
        return false;
    if (ranged && !ranges_note(&nsys->ranges, read, use->what / 2 - 1))
        return false;
    return database_add(read, &row);
}

static bool call_row(struct database_read *read, const struct table_scan *scan, int64_t event)
{
    enum { RUNTIME = 0, DRIVER = 1, DRIVER_TOO = 13, DOUBLE = 67, LAST_DOUBLE = 69 };
    struct nsys *nsys = read->state;
    int64_t process;
    if (!nsys_process(read, scan, CALL_THREAD, &process))
        return false;
    if (!belongs(read, process))
        return true;
    int64_t class = scan_integer(scan, CALL_CLASS);
    if (class >= DOUBLE && class <= LAST_DOUBLE)
        return true;
    const struct string_use *use = strings_use(&nsys->strings, scan_integer(scan, CALL_NAME),
                                               AS_CALL, make_call, read, read->failure);
    if (!use)
        return false;
    bool driver = class == DRIVER || class == DRIVER_TOO || (class != RUNTIME && use->what);
    int64_t thread = scan_integer(scan, CALL_THREAD);
    struct database_row row = {
        .event = event,
        .correlation = correlation_of(nsys, process, scan_integer(scan, CALL_CORRELATION)),
        .stream = NUMBER_NONE,
        .pid = process & 0xffffff,
        .tid = thread == NUMBER_NONE ? NUMBER_NONE : thread & 0xffffff,
        .name = use->name,
        .phase = 'X'};
    database_times(read, scan_integer(scan, CALL_START), scan_integer(scan, CALL_END), true,
                   &row.ts, &row.dur);
    return cat_of(read, driver ? CAT_DRIVER : CAT_RUNTIME, &row.cat) && database_add(read, &row);
}

/* The name of a kernel: the first existing column. */
static bool kernel_name(struct database_read *read, const struct table_scan *scan, uint32_t *name)
{
    struct nsys *nsys = read->state;
    *name = NAME_NONE;
    for (int column = KERNEL_DEMANGLED; *name == NAME_NONE && column <= KERNEL_MANGLED; column++) {
        const struct string_use *use = strings_use(&nsys->strings, scan_integer(scan, column),
                                                   AS_KERNEL, make_kernel, read, read->failure);
        if (!use)
            return false;
        *name = use->name;
    }
    return true;
}

static bool copy_name(struct database_read *read, const struct table_scan *scan, uint32_t *name)
{
    static const char *const ways[] = {NULL,   "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
                                       "AtoD", "DtoA", "DtoD", "HtoH", "PtoP"};
    static const char *const unified[] = {"HtoD", "DtoH", "DtoD"};
    static const char *const kinds[] = {"Pageable", "Pinned",        "Device",        "Array",
                                        "Managed",  "Device Static", "Managed Static"};
    enum { WAYS = 10, KINDS = 7, UNIFIED = 3 };
    char text[64];
    int64_t way = scan_integer(scan, MEMCPY_KIND);
    int64_t from = scan_integer(scan, MEMCPY_FROM), to = scan_integer(scan, MEMCPY_TO);
    if (way > WAYS && way <= WAYS + UNIFIED)
        sqlite3_snprintf(sizeof text, text, "Memcpy %s (Unified)", unified[way - WAYS - 1]);
    else if (way < 1 || way > WAYS)
        sqlite3_snprintf(sizeof text, text, "Memcpy <unknown>");
    else if (from == NUMBER_NONE && to == NUMBER_NONE)
        sqlite3_snprintf(sizeof text, text, "Memcpy %s", ways[way]);
    else
        sqlite3_snprintf(sizeof text, text, "Memcpy %s (%s -> %s)", ways[way],
                         from >= 0 && from < KINDS ? kinds[from] : "Unknown",
                         to >= 0 && to < KINDS ? kinds[to] : "Unknown");
    return database_name(read, text, strlen(text), name);
}

/* The device of a context (N11). */
static int64_t device_of(const struct nsys *nsys, int64_t context, int64_t written)
{
    for (size_t i = 0; i < nsys->context_count && context != NUMBER_NONE; i++)
        if (nsys->contexts[i].context == context)
            return nsys->contexts[i].device;
    return written;
}

/* Notes the device of a context with work in the part. */
static bool take_context(struct database_read *read, int64_t context, int64_t device)
{
    struct nsys *nsys = read->state;
    if (context == NUMBER_NONE || device == NUMBER_NONE ||
        device_of(nsys, context, NUMBER_NONE) != NUMBER_NONE)
        return true;
    if (!MEMORY_GROW(nsys->contexts, nsys->context_capacity, nsys->context_count + 1))
        return failure_memory(read->failure);
    nsys->contexts[nsys->context_count++] = (struct nsys_context){context, device};
    return true;
}

static bool name_work(struct database_read *read, int kind, const struct table_scan *scan,
                      struct database_row *row)
{
    const char *sync = nsys_sync_name(kind == NSYS_SYNC ? scan_integer(scan, SYNC_TYPE) : 0);
    switch (kind) {
    case NSYS_KERNEL:
        return cat_of(read, CAT_KERNEL, &row->cat) && kernel_name(read, scan, &row->name);
    case NSYS_MEMCPY:
        return cat_of(read, CAT_MEMCPY, &row->cat) && copy_name(read, scan, &row->name);
    case NSYS_MEMSET:
        return cat_of(read, CAT_MEMSET, &row->cat) &&
               database_name(read, "Memset (Device)", sizeof "Memset (Device)" - 1, &row->name);
    case NSYS_GRAPH:
        return cat_of(read, CAT_KERNEL, &row->cat) &&
               database_name(read, "CUDA graph", sizeof "CUDA graph" - 1, &row->name);
    default:
        return cat_of(read, CAT_SYNC, &row->cat) &&
               database_name(read, sync, strlen(sync), &row->name);
    }
}

static bool work_row(struct database_read *read, int kind, const struct table_scan *scan,
                     int64_t event)
{
    const struct nsys *nsys = read->state;
    int64_t process;
    if (!nsys_process(read, scan, WORK_PROCESS, &process))
        return false;
    if (!belongs(read, process))
        return true;
    int64_t start = scan_integer(scan, WORK_START), end = scan_integer(scan, WORK_END);
    int64_t device = scan_integer(scan, WORK_DEVICE), stream = scan_integer(scan, WORK_STREAM);
    int64_t context = scan_integer(scan, WORK_CONTEXT);
    if (kind == NSYS_SYNC) {
        device = device_of(nsys, context, device);
        stream = stream == UINT32_MAX ? -1 : stream;
    } else if (!take_context(read, context, device)) {
        return false;
    }
    struct database_row row = {
        .event = event,
        .ts = NUMBER_NONE,
        .dur = NUMBER_NONE,
        .correlation = correlation_of(nsys, process, scan_integer(scan, WORK_CORRELATION)),
        .stream = stream,
        .pid = device,
        .tid = stream,
        .phase = 'X'};
    if (start == 0 && end == 0)
        problem_add(&read->file->problems, PROBLEM_NOT_TIMED, 0);
    else
        database_times(read, start, end, true, &row.ts, &row.dur);
    return name_work(read, kind, scan, &row) && database_add(read, &row);
}

/* Applies N2. */
static bool has_columns(struct database_read *read, const struct event_table *table)
{
    return database_has(read, table->table, "start") &&
           (table->kind != NSYS_KERNEL || readonly_column(table->table, "shortName") ||
            database_has(read, table->table, "demangledName"));
}

static bool nsys_row(struct database_read *read, int kind, const struct table_scan *scan,
                     int64_t event)
{
    if (kind == NSYS_NVTX)
        return range_row(read, scan, event);
    if (kind == NSYS_RUNTIME)
        return call_row(read, scan, event);
    return work_row(read, kind, scan, event);
}

/* Reports what is missing (N1.3). */
static bool tell_lacking(struct database_read *read)
{
    bool ranges = read->tables[NSYS_NVTX].table != NULL;
    for (int kind = NSYS_RUNTIME; kind < NSYS_TABLES; kind++)
        if (read->tables[kind].table)
            return true;
    return readonly_damaged(
        read->readonly,
        ranges ? NO_EVENTS "has no row in NVTX_EVENTS, and lacks the tables " ACTIVITIES
               : NO_EVENTS "lacks the tables NVTX_EVENTS, " ACTIVITIES,
        NULL, read->failure);
}

static bool finish_nsys(struct database_read *read)
{
    struct nsys *nsys = read->state;
    if (read->file->events == 0 && !tell_lacking(read))
        return false;
    return ranges_name_steps(&nsys->ranges, read, &nsys->word);
}

static void settle_nsys(void *state)
{
    struct nsys *nsys = state;
    strings_close(&nsys->strings);
    memory_free(nsys->contexts);
    ranges_clear(&nsys->ranges);
    nsys->contexts = NULL;
}

static void free_nsys(void *state)
{
    struct nsys *nsys = state;
    for (size_t i = 0; i < nsys->domain_count; i++)
        memory_free(nsys->domains[i].name);
    memory_free(nsys->domains);
    memory_free(nsys->parts);
    memory_free(nsys);
}

const struct profiler nsys_profiler = {.name = "Nsight Systems",
                                       .columns = {[NSYS_NVTX] = nvtx_columns,
                                                   [NSYS_RUNTIME] = call_columns,
                                                   [NSYS_KERNEL] = kernel_columns,
                                                   [NSYS_MEMCPY] = memcpy_columns,
                                                   [NSYS_MEMSET] = work_columns,
                                                   [NSYS_GRAPH] = work_columns,
                                                   [NSYS_SYNC] = sync_columns},
                                       .arg_columns = {[NSYS_NVTX] = nvtx_columns,
                                                       [NSYS_RUNTIME] = call_args,
                                                       [NSYS_KERNEL] = kernel_args,
                                                       [NSYS_MEMCPY] = memcpy_args,
                                                       [NSYS_MEMSET] = memset_args,
                                                       [NSYS_GRAPH] = graph_args,
                                                       [NSYS_SYNC] = sync_columns},
                                       .is = is_nsys,
                                       .open = open_nsys,
                                       .describe = describe_nsys,
                                       .complete = has_columns,
                                       .row = nsys_row,
                                       .finish = finish_nsys,
                                       .args = nsys_args,
                                       .settle = settle_nsys,
                                       .free_state = free_nsys};
