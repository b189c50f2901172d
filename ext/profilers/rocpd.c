#include "rocpd.h"

#include <string.h>

#include "base/memory.h"
#include "rocpd_names.h"
#include "text/ascii.h"

/* Columns of rows. Time, track and event have the same columns in all tables; columns missing in a
** schema are NULL in every row (R8, R9). */
enum { ROW_TRACK, ROW_START, ROW_END, ROW_START_ID, ROW_END_ID, ROW_EVENT, ROW_OWN };
enum { REGION_PROCESS = ROW_OWN, REGION_THREAD, REGION_NAME };
enum { WORK_STREAM = ROW_OWN, WORK_OWN };
enum { DISPATCH_AGENT = WORK_OWN, DISPATCH_KERNEL };
enum { COPY_NAME = WORK_OWN, COPY_TO, COPY_FROM };
enum { SAMPLE_NAME = ROW_OWN };
enum {
    ARGS_TRACK = ROW_TRACK,
    ARGS_QUEUE,
    ARGS_BLOCK,
    ARGS_GRID = ARGS_BLOCK + 3,
    ARGS_BYTES = ARGS_BLOCK
};

#define TIMES_AND_IDS "track_id", "start", "end", "start_id", "end_id", "event_id"
static const char *const region_columns[] = {TIMES_AND_IDS, "pid", "tid", "name_id", NULL};
static const char *const dispatch_columns[] = {TIMES_AND_IDS, "stream_id", "agent_id", "kernel_id",
                                               NULL};
static const char *const copy_columns[] = {TIMES_AND_IDS,  "stream_id",    "name_id",
                                           "dst_agent_id", "src_agent_id", NULL};
static const char *const sample_columns[] = {
    "track_id",     "timestamp", "timestamp", "timestamp_id",
    "timestamp_id", "event_id",  "name_id",   NULL};
#undef TIMES_AND_IDS
static const char *const no_columns[] = {NULL};
static const char *const region_args[] = {"event_id", NULL};
static const char *const dispatch_args[] = {
    "track_id",         "queue_id",         "workgroup_size_x",
    "workgroup_size_y", "workgroup_size_z", "grid_size_x",
    "grid_size_y",      "grid_size_z",      NULL};
static const char *const copy_args[] = {"track_id", "queue_id", "size", NULL};

/* Columns of joined tables. */
enum { CATEGORY_OF_EVENT, STACK_OF_EVENT };
enum { PROCESS_PID };
enum { THREAD_TID };
enum { AGENT_INDEX, AGENT_IS_GPU };
enum { TRACK_PROCESS, TRACK_THREAD, TRACK_NAME };
enum { TIMESTAMP_VALUE };

enum rocpd_cat { CAT_KERNEL, CAT_COPY };

/* Uses of strings. */
enum { AS_NAME, AS_CATEGORY, AS_COPY };

static bool is_rocpd(const struct readonly *readonly)
{
    bool strings = false, events = false;
    for (size_t i = 0; i < readonly->table_count; i++) {
        const char *name = readonly->tables[i].name;
        strings = strings || rocpd_suffix(name, "rocpd_string");
        events = events || rocpd_suffix(name, rocpd_table_names[ROCPD_REGION]) ||
                 rocpd_suffix(name, rocpd_table_names[ROCPD_DISPATCH]);
    }
    return strings && events;
}

static bool open_rocpd(struct database_read *read, const void *head)
{
    struct rocpd *rocpd = read->state = memory_zeroed(1, sizeof *rocpd);
    if (!rocpd)
        return failure_memory(read->failure);
    rocpd->part = read->file ? read->file->part : ((const struct rocpd *)head)->part;
    if (!rocpd_look(read))
        return false;
    if (rocpd->part >= rocpd->part_count)
        return failure_set(read->failure, FAILURE_READ,
                           "'%s' has changed while it was read: run the query again",
                           read->readonly->path);
    for (size_t part = 0; part < rocpd->part_count; part++)
        for (int kind = 0; kind < ROCPD_TABLES; kind++) {
            struct event_table *table = &read->tables[read->table_count++];
            *table = (struct event_table){.kind = kind, .owned = true, .part = part};
            if (!rocpd_table(read, part, rocpd_table_names[kind], &table->table))
                return false;
        }
    return true;
}

static bool describe_rocpd(struct database_read *read, sqlite3_str *metadata)
{
    struct trace_file *file = read->file;
    const struct rocpd *rocpd = read->state;
    if (rocpd->part_count == 0) /* the parts could not be found */
        return true;
    if (strcmp(rocpd->schema, "3") == 0)
        problem_add(&file->problems, PROBLEM_UNTRIED, 0);
    file->rank_source = RANK_DATABASE;
    file->part_count = rocpd->part_count;
    file->parts = memory_zeroed(rocpd->part_count, sizeof *file->parts);
    if (!file->parts)
        return failure_memory(read->failure);
    for (size_t i = 0; i < rocpd->part_count; i++)
        file->parts[i] = rocpd->parts[i].rank;
    file->rank = file->parts[rocpd->part];
    args_integer(metadata, "pid", rocpd->parts[rocpd->part].pid);
    return args_text(metadata, "schema", (const unsigned char *)rocpd->schema,
                     strlen(rocpd->schema), read->failure);
}

static bool take_agent(struct database_read *read, const struct table_scan *scan)
{
    struct rocpd *rocpd = read->state;
    size_t length;
    const char *type = (const char *)scan_text(scan, 2, &length);
    struct id_row row = {.id = scan_integer(scan, 0),
                         .values = {[AGENT_INDEX] = scan_integer(scan, 1),
                                    [AGENT_IS_GPU] = type && text_is(type, length, "GPU")}};
    return ids_add(&rocpd->agents, &row, read->failure);
}

/* Opens the names of categories, which schema 3 keeps among the strings (R9). */
static bool open_categories(struct database_read *read, struct readonly_table *strings)
{
    struct rocpd *rocpd = read->state;
    struct readonly_table *table = NULL;
    return rocpd_table(read, rocpd->part, "rocpd_info_category", &table) &&
           strings_open(&rocpd->categories, read->readonly, table ? table : strings, "id",
                        table ? "name" : "string", read->failure);
}

/* Opens and reads the tables that rows are joined with (R2). */
static bool join(struct database_read *read)
{
    static const char *const events[] = {"id", "category_id", "stack_id", NULL};
    static const char *const processes[] = {"id", "pid", NULL};
    static const char *const threads[] = {"id", "tid", NULL};
    static const char *const agents[] = {"id", "type_index", "type", NULL};
    static const char *const tracks[] = {"id", "pid", "tid", "name_id", NULL};
    static const char *const timestamps[] = {"id", "value", NULL};
    struct rocpd *rocpd = read->state;
    struct readonly *readonly = read->readonly;
    struct readonly_table *table = NULL;
    size_t part = rocpd->part;
    rocpd->joined = true;
    return rocpd_table(read, part, "rocpd_string", &table) &&
           strings_open(&rocpd->strings, readonly, table, "id", "string", read->failure) &&
           open_categories(read, table) &&
           rocpd_table(read, part, "rocpd_info_kernel_symbol", &table) &&
           strings_open(&rocpd->kernels, readonly, table, "id", "display_name", read->failure) &&
           strings_open(&rocpd->mangled, readonly, table, "id", "kernel_name", read->failure) &&
           rocpd_table(read, part, "rocpd_event", &table) &&
           ids_read(&rocpd->events, read, table, events) &&
           rocpd_table(read, part, "rocpd_info_process", &table) &&
           ids_read(&rocpd->processes, read, table, processes) &&
           rocpd_table(read, part, "rocpd_info_thread", &table) &&
           ids_read(&rocpd->threads, read, table, threads) &&
           rocpd_table(read, part, "rocpd_track", &table) &&
           ids_read(&rocpd->tracks, read, table, tracks) &&
           rocpd_table(read, part, "rocpd_timestamp", &table) &&
           ids_read(&rocpd->timestamps, read, table, timestamps) && rocpd_places(read, part) &&
           rocpd_table(read, part, "rocpd_info_agent", &table) &&
           database_each(read, table, agents, NULL, take_agent) &&
           ids_order(&rocpd->agents, &readonly->stopper, read->failure);
}

static bool make_name(void *owner, struct string_use *use, const unsigned char *text, size_t length,
                      struct failure *failure)
{
    (void)failure;
    return !text || database_name(owner, text, length, &use->name);
}

/* Makes a category with Kineto's name (R5). */
static bool make_category(void *owner, struct string_use *use, const unsigned char *text,
                          size_t length, struct failure *failure)
{
    (void)failure;
    use->what = text ? (int)rocpd_what(text, length) : OF_OTHER;
    return !text || rocpd_category(owner, text, length, &use->name);
}

/* Makes a copy's name in Kineto's form (R7). */
static bool make_copy(void *owner, struct string_use *use, const unsigned char *text, size_t length,
                      struct failure *failure)
{
    const char *name = text ? rocpd_copy(text, length) : NULL;
    return name ? database_name(owner, name, strlen(name), &use->name)
                : make_name(owner, use, text, length, failure);
}

/* The name of a kernel, preferably demangled (R6). */
static bool make_kernel(void *owner, struct string_use *use, const unsigned char *text,
                        size_t length, struct failure *failure)
{
    struct database_read *read = owner;
    struct rocpd *rocpd = read->state;
    return (text || strings_find(&rocpd->mangled, use->id, &text, &length, failure)) &&
           make_name(owner, use, text, length, failure);
}

static bool cat_of(struct database_read *read, enum rocpd_cat cat, uint32_t *id)
{
    static const char *const names[] = {[CAT_KERNEL] = "kernel", [CAT_COPY] = "gpu_memcpy"};
    struct rocpd *rocpd = read->state;
    return database_kept_name(read, names[cat], &rocpd->cats[cat], id);
}

/* Gives a range the name and category from its message (N7), and notes candidates for steps. */
static bool read_message(struct database_read *read, int64_t event, struct database_row *row)
{
    struct rocpd *rocpd = read->state;
    struct nvtx_text parts;
    const unsigned char *text;
    size_t length;
    int64_t number;
    if (!rocpd_message(read, rocpd->part, event, &text, &length))
        return false;
    if (!text)
        return true;
    nvtx_read(text, length, &parts);
    return ranges_note(&rocpd->ranges, read, nvtx_step(text, parts.name_length, &number)) &&
           (!nvtx_is_operator(text, &parts) ||
            database_name(read, "cpu_op", sizeof "cpu_op" - 1, &row->cat)) &&
           database_name(read, text, parts.name_length, &row->name);
}

/* A start or end of a row: its own time, or else the time of its timestamp id (R9). */
static int64_t time_of(const struct rocpd *rocpd, const struct table_scan *scan, int own, int id)
{
    int64_t time = scan_integer(scan, own);
    return time != NUMBER_NONE
               ? time
               : ids_value(&rocpd->timestamps, scan_integer(scan, id), TIMESTAMP_VALUE);
}

static int64_t start_of(const struct rocpd *rocpd, const struct table_scan *scan)
{
    return time_of(rocpd, scan, ROW_START, ROW_START_ID);
}

static int64_t end_of(const struct rocpd *rocpd, const struct table_scan *scan)
{
    return time_of(rocpd, scan, ROW_END, ROW_END_ID);
}

/* A value of a row, or else of its track (R9). */
static int64_t value_of(const struct id_table *tracks, const struct table_scan *scan, int own,
                        int value)
{
    int64_t found = scan_integer(scan, own);
    return found != NUMBER_NONE ? found : ids_value(tracks, scan_integer(scan, ROW_TRACK), value);
}

static bool category_of(struct database_read *read, int64_t event, struct string_use *category)
{
    struct rocpd *rocpd = read->state;
    return database_string(read, &rocpd->categories,
                           ids_value(&rocpd->events, event, CATEGORY_OF_EVENT), AS_CATEGORY,
                           make_category, category);
}

static bool region_row(struct database_read *read, const struct table_scan *scan, int64_t event)
{
    struct rocpd *rocpd = read->state;
    struct string_use category, name;
    int64_t of = scan_integer(scan, ROW_EVENT);
    if (!category_of(read, of, &category))
        return false;
    if (category.what == OF_KFD)
        return true;
    if (!database_string(read, &rocpd->strings, scan_integer(scan, REGION_NAME), AS_NAME, make_name,
                         &name))
        return false;
    int64_t process = value_of(&rocpd->tracks, scan, REGION_PROCESS, TRACK_PROCESS);
    int64_t thread = value_of(&rocpd->tracks, scan, REGION_THREAD, TRACK_THREAD);
    struct database_row row = {.event = event,
                               .correlation = category.what == OF_CALL
                                                  ? ids_value(&rocpd->events, of, STACK_OF_EVENT)
                                                  : NUMBER_NONE,
                               .stream = NUMBER_NONE,
                               .pid = ids_value(&rocpd->processes, process, PROCESS_PID),
                               .tid = ids_value(&rocpd->threads, thread, THREAD_TID),
                               .cat = category.name,
                               .name = name.name,
                               .phase = 'X'};
    database_times(read, start_of(rocpd, scan), end_of(rocpd, scan), true, &row.ts, &row.dur);
    return (category.what != OF_MARKER || read_message(read, of, &row)) && database_add(read, &row);
}

/* Adds a dispatch or a copy. */
static bool add_work(struct database_read *read, const struct table_scan *scan, int64_t event,
                     enum rocpd_cat cat, uint32_t name, int64_t agent)
{
    const struct rocpd *rocpd = read->state;
    const struct id_table *places = &rocpd->parts[rocpd->part].places;
    int64_t stream = value_of(places, scan, WORK_STREAM, PLACE_STREAM);
    struct database_row row = {
        .event = event,
        .correlation = ids_value(&rocpd->events, scan_integer(scan, ROW_EVENT), STACK_OF_EVENT),
        .stream = stream,
        .pid = ids_value(&rocpd->agents, agent, AGENT_INDEX),
        .tid = stream,
        .name = name,
        .phase = 'X'};
    database_times(read, start_of(rocpd, scan), end_of(rocpd, scan), true, &row.ts, &row.dur);
    return cat_of(read, cat, &row.cat) && database_add(read, &row);
}

static bool dispatch_row(struct database_read *read, const struct table_scan *scan, int64_t event)
{
    struct rocpd *rocpd = read->state;
    const struct id_table *places = &rocpd->parts[rocpd->part].places;
    struct string_use name;
    return database_string(read, &rocpd->kernels, scan_integer(scan, DISPATCH_KERNEL), AS_NAME,
                           make_kernel, &name) &&
           add_work(read, scan, event, CAT_KERNEL, name.name,
                    value_of(places, scan, DISPATCH_AGENT, PLACE_AGENT));
}

/* Handles a copy. Its device is the destination or, if that is the host, the source. The track does
** not help, because the agent of a copy to the host is the host. */
static bool copy_row(struct database_read *read, const struct table_scan *scan, int64_t event)
{
    struct rocpd *rocpd = read->state;
    struct string_use name;
    int64_t to = scan_integer(scan, COPY_TO), from = scan_integer(scan, COPY_FROM);
    int64_t agent = ids_value(&rocpd->agents, to, AGENT_IS_GPU) == true ? to : from;
    return database_string(read, &rocpd->strings, scan_integer(scan, COPY_NAME), AS_COPY, make_copy,
                           &name) &&
           add_work(read, scan, event, CAT_COPY, name.name, agent);
}

static bool sample_row(struct database_read *read, const struct table_scan *scan, int64_t event)
{
    struct rocpd *rocpd = read->state;
    struct string_use category, name;
    int64_t track = scan_integer(scan, ROW_TRACK);
    if (!category_of(read, scan_integer(scan, ROW_EVENT), &category) ||
        !database_string(read, &rocpd->strings,
                         value_of(&rocpd->tracks, scan, SAMPLE_NAME, TRACK_NAME), AS_NAME,
                         make_name, &name))
        return false;
    int64_t process = ids_value(&rocpd->tracks, track, TRACK_PROCESS);
    int64_t thread = ids_value(&rocpd->tracks, track, TRACK_THREAD);
    struct database_row row = {.event = event,
                               .correlation = NUMBER_NONE,
                               .stream = NUMBER_NONE,
                               .pid = ids_value(&rocpd->processes, process, PROCESS_PID),
                               .tid = ids_value(&rocpd->threads, thread, THREAD_TID),
                               .cat = category.name,
                               .name = name.name,
                               .phase = 'i'};
    database_times(read, start_of(rocpd, scan), 0, false, &row.ts, &row.dur);
    return category.what == OF_KFD || database_add(read, &row);
}

static bool rocpd_row(struct database_read *read, int kind, const struct table_scan *scan,
                      int64_t event)
{
    static bool (*const rows[])(struct database_read *, const struct table_scan *,
                                int64_t) = {[ROCPD_REGION] = region_row,
                                            [ROCPD_DISPATCH] = dispatch_row,
                                            [ROCPD_COPY] = copy_row,
                                            [ROCPD_SAMPLE] = sample_row};
    const struct rocpd *rocpd = read->state;
    read->file->events++;
    return (rocpd->joined || join(read)) && rows[kind](read, scan, event);
}

static bool has_columns(struct database_read *read, const struct event_table *table)
{
    bool sample = table->kind == ROCPD_SAMPLE;
    return readonly_column(table->table, sample ? "timestamp_id" : "start_id") ||
           database_has(read, table->table, sample ? "timestamp" : "start");
}

static bool finish_rocpd(struct database_read *read)
{
    struct rocpd *rocpd = read->state;
    return ranges_name_steps(&rocpd->ranges, read, &rocpd->word);
}

/* Whether a text named a region, either directly or as a step. */
static bool is_named(const struct trace_file *file, size_t row, const unsigned char *text,
                     const struct nvtx_text *parts, bool step)
{
    const struct name *name = &file->names.items[file->columns.name[row]];
    if (step)
        return begins(name->text, name->text + name->length, "ProfilerStep#");
    return name->length == parts->name_length && memcmp(name->text, text, name->length) == 0;
}

static bool write_region(struct database_read *read, const struct trace_file *file, size_t row,
                         const struct table_scan *scan, sqlite3_str *json)
{
    struct nvtx_text parts;
    const unsigned char *text;
    size_t length;
    int64_t number;
    if (row_is(file, row, CATEGORY_CALL) || row_is(file, row, CATEGORY_DRIVER_CALL)) {
        args_integer(json, "correlation", file->columns.correlation[row]);
        return true;
    }
    if (file->columns.name[row] == NAME_NONE)
        return true;
    if (!rocpd_message(read, file->part, scan_integer(scan, 0), &text, &length))
        return false;
    if (!text)
        return true;
    nvtx_read(text, length, &parts);
    const struct rocpd *known = read->known;
    bool step =
        known->word != NVTX_NO_WORD && nvtx_step(text, parts.name_length, &number) == known->word;
    if (!is_named(file, row, text, &parts, step))
        return true;
    return ranges_args(&parts, json, read->failure) &&
           (!step || args_text(json, "nvtx", text, length, read->failure));
}

/* Writes a dispatch's numbers of work items as numbers of groups. */
static void write_sizes(const struct table_scan *scan, sqlite3_str *json)
{
    int64_t block[3], grid[3];
    for (int i = 0; i < 3; i++) {
        int64_t items = scan_integer(scan, ARGS_GRID + i);
        block[i] = scan_integer(scan, ARGS_BLOCK + i);
        if (block[i] <= 0)
            return;
        grid[i] = items < 0 ? NUMBER_NONE : items / block[i];
    }
    args_three(json, "grid", grid[0], grid[1], grid[2]);
    args_three(json, "block", block[0], block[1], block[2]);
}

static bool rocpd_args(struct database_read *read, const struct trace_file *file, size_t row,
                       int kind, const struct table_scan *scan, sqlite3_str *json)
{
    if (kind == ROCPD_REGION)
        return write_region(read, file, row, scan, json);
    if (kind == ROCPD_SAMPLE)
        return true;
    if (!rocpd_places(read, file->part))
        return false;
    const struct rocpd *rocpd = read->state;
    args_device(json, file, row);
    args_integer(json, "queue",
                 value_of(&rocpd->parts[file->part].places, scan, ARGS_QUEUE, PLACE_QUEUE));
    args_integer(json, "correlation", file->columns.correlation[row]);
    if (kind == ROCPD_DISPATCH) {
        write_sizes(scan, json);
    } else {
        args_integer(json, "bytes", scan_integer(scan, ARGS_BYTES));
        args_bandwidth(json, scan_integer(scan, ARGS_BYTES), file->columns.dur[row]);
    }
    return true;
}

static void settle_rocpd(void *state)
{
    struct rocpd *rocpd = state;
    strings_close(&rocpd->strings);
    strings_close(&rocpd->categories);
    for (size_t i = 0; i < rocpd->part_count; i++) {
        struct rocpd_part *part = &rocpd->parts[i];
        strings_close(&part->messages);
        ids_clear(&part->places);
        part->opened = part->placed = false;
    }
    strings_close(&rocpd->kernels);
    strings_close(&rocpd->mangled);
    ids_clear(&rocpd->events);
    ids_clear(&rocpd->processes);
    ids_clear(&rocpd->threads);
    ids_clear(&rocpd->agents);
    ids_clear(&rocpd->tracks);
    ids_clear(&rocpd->timestamps);
    ranges_clear(&rocpd->ranges);
    memory_free(rocpd->json);
    rocpd->json = NULL;
}

static void free_rocpd(void *state)
{
    struct rocpd *rocpd = state;
    for (size_t i = 0; i < rocpd->part_count; i++)
        memory_free(rocpd->parts[i].suffix);
    memory_free(rocpd->parts);
    memory_free(rocpd);
}

const struct profiler rocpd_profiler = {.name = "rocprofv3",
                                        .columns = {[ROCPD_REGION] = region_columns,
                                                    [ROCPD_DISPATCH] = dispatch_columns,
                                                    [ROCPD_COPY] = copy_columns,
                                                    [ROCPD_SAMPLE] = sample_columns},
                                        .arg_columns = {[ROCPD_REGION] = region_args,
                                                        [ROCPD_DISPATCH] = dispatch_args,
                                                        [ROCPD_COPY] = copy_args,
                                                        [ROCPD_SAMPLE] = no_columns},
                                        .is = is_rocpd,
                                        .open = open_rocpd,
                                        .describe = describe_rocpd,
                                        .complete = has_columns,
                                        .row = rocpd_row,
                                        .finish = finish_rocpd,
                                        .args = rocpd_args,
                                        .settle = settle_rocpd,
                                        .free_state = free_rocpd};
