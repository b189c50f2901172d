#include "rocprof_json.h"

#include <string.h>

#include "base/memory.h"
#include "profilers/ranges.h"
#include "profilers/rocpd_names.h"
#include "rocprof_record.h"

/* State that is needed only while rows are read. */
struct rocprof_reading {
    struct database_read read; /* used for rows: loading, file and failure */
    struct readonly none;
    struct rocprof rocprof;
    struct ranges ranges;
    uint32_t kernel, copy; /* ids of names, plus 1; 0: not added yet */
};

/* Data kept for args. */
struct rocprof_origin {
    int word; /* that marks steps (N10) */
};

static bool name_of(struct rocprof_reading *reading, const struct name *text, uint32_t *id)
{
    *id = NAME_NONE;
    return !text || database_name(&reading->read, text->text, text->length, id);
}

/* Gives a range the name and category from its text, and notes candidates for steps (N7, N10). */
static bool take_marker(struct rocprof_reading *reading, const struct name *text,
                        struct database_row *row)
{
    const unsigned char *bytes = (const unsigned char *)text->text;
    struct nvtx_text parts;
    int64_t number;
    nvtx_read(bytes, text->length, &parts);
    return ranges_note(&reading->ranges, &reading->read,
                       nvtx_step(bytes, parts.name_length, &number)) &&
           (!nvtx_is_operator(bytes, &parts) ||
            database_name(&reading->read, "cpu_op", sizeof "cpu_op" - 1, &row->cat)) &&
           database_name(&reading->read, bytes, parts.name_length, &row->name);
}

static bool take_call(struct rocprof_reading *reading, const struct rocprof_record *record,
                      struct database_row *row)
{
    const struct rocprof *rocprof = &reading->rocprof;
    const struct name *category = rocprof_category(rocprof, record);
    enum rocpd_what what = OF_OTHER;
    row->pid = rocprof->pid;
    row->tid = record->thread;
    row->stream = NUMBER_NONE;
    if (category) {
        const unsigned char *text = (const unsigned char *)category->text;
        what = rocpd_what(text, category->length);
        if (!rocpd_category(&reading->read, text, category->length, &row->cat))
            return false;
    }
    if (!name_of(reading, rocprof_operation(rocprof, record), &row->name))
        return false;
    if (what != OF_CALL)
        row->correlation = NUMBER_NONE;
    if (what == OF_KFD)
        return true;
    const struct name *text =
        what == OF_MARKER ? rocprof_text(rocprof, &rocprof->markers, record->correlation) : NULL;
    return (!text || take_marker(reading, text, row)) && database_add(&reading->read, row);
}

static bool take_work(struct rocprof_reading *reading, const struct rocprof_record *record,
                      struct database_row *row)
{
    struct database_read *read = &reading->read;
    const struct rocprof *rocprof = &reading->rocprof;
    row->pid = record->device;
    row->tid = row->stream = record->stream;
    if (record->kind == RECORD_DISPATCH)
        return database_kept_name(read, "kernel", &reading->kernel, &row->cat) &&
               name_of(reading, rocprof_text(rocprof, &rocprof->kernels, record->kernel),
                       &row->name) &&
               database_add(read, row);
    const struct name *operation = rocprof_operation(rocprof, record);
    const char *name =
        operation ? rocpd_copy((const unsigned char *)operation->text, operation->length) : NULL;
    return database_kept_name(read, "gpu_memcpy", &reading->copy, &row->cat) &&
           (name ? database_name(read, name, strlen(name), &row->name)
                 : name_of(reading, operation, &row->name)) &&
           database_add(read, row);
}

static bool take_record(struct rocprof_reading *reading, const struct rocprof_record *record)
{
    struct database_row row = {.event = record->event,
                               .correlation = record->correlation,
                               .cat = NAME_NONE,
                               .name = NAME_NONE,
                               .phase = 'X'};
    reading->read.file->events++;
    if (record->kind == RECORD_OTHER)
        return true;
    database_times(&reading->read, record->start, record->end, true, &row.ts, &row.dur);
    return record->kind == RECORD_CALL ? take_call(reading, record, &row)
                                       : take_work(reading, record, &row);
}

/* Takes the facts about the whole file. */
static bool take_file(struct rocprof_reading *reading)
{
    struct trace_file *file = reading->read.file;
    struct rocprof *rocprof = &reading->rocprof;
    struct failure *failure = reading->read.failure;
    struct rocprof_origin *origin = file->origin;
    const struct name *host =
        rocprof->host == NAME_NONE ? NULL : &rocprof->texts.items[rocprof->host];
    bool done = args_metadata(file, "rocprofv3", host ? host->text : NULL, host ? host->length : 0,
                              rocprof->pid, failure);
    if (rocprof->late > 0) {
        problem_add(&file->problems, PROBLEM_KEY_ORDER, rocprof->late_byte);
        file->problems.count[PROBLEM_KEY_ORDER] += rocprof->late - 1;
    }
    file->outcome = rocprof->walk.damaged ? DOCUMENT_DAMAGED : DOCUMENT_WHOLE;
    reading->read.loading->unsure = rocprof->walk.damaged && source_unsure(rocprof->walk.in.source);
    failure_move(&file->trouble, &rocprof->walk.trouble);
    return done && ranges_name_steps(&reading->ranges, &reading->read, &origin->word);
}

static bool read_records(struct rocprof_reading *reading)
{
    struct failure *failure = reading->read.failure;
    struct rocprof_record record;
    int result;
    while ((result = rocprof_next(&reading->rocprof, &record, failure)) > 0)
        if (!take_record(reading, &record))
            return false;
    return result == 0 && take_file(reading) &&
           source_unchanged(reading->rocprof.walk.in.source, failure);
}

static bool read_document(struct loading *loadings, size_t count)
{
    struct loading *loading = &loadings[0]; /* files of this format have one part */
    struct trace_file *file = loading->file;
    struct rocprof_reading *reading = memory_zeroed(1, sizeof *reading);
    (void)count;
    if (!reading)
        return failure_memory(loading->failure);
    reading->none.path = file->path;
    reading->none.identity.size = INT64_MAX / 16; /* the document limits names */
    reading->read = (struct database_read){
        .readonly = &reading->none, .loading = loading, .file = file, .failure = loading->failure};
    bool done = false;
    file->rank_known = true; /* the file has no rank */
    if (!loading->whole) {
        done = source_identify(file->path, &file->identity, loading->failure);
    } else if (rocprof_open(&reading->rocprof, file->path, file->by_zlib, loading->stopper,
                            loading->failure)) {
        file->identity = *source_identity(reading->rocprof.walk.in.source);
        file->json_size = NUMBER_NONE;
        file->origin = memory_zeroed(1, sizeof(struct rocprof_origin));
        done = file->origin ? read_records(reading) : failure_memory(loading->failure);
    }
    rocprof_close(&reading->rocprof);
    ranges_clear(&reading->ranges);
    memory_free(reading);
    return done;
}

/* Reads args, again from the file. */
struct rocprof_args {
    const struct trace_file *file; /* borrowed */
    struct stopper stopper;
    struct rocprof rocprof;
    char *text;
    size_t capacity;
};

static void end_args(void *begun)
{
    struct rocprof_args *args = begun;
    if (!args)
        return;
    rocprof_close(&args->rocprof);
    memory_free(args->text);
    memory_free(args);
}

static void *begin_args(const struct trace_file *file, const struct stopper *stopper,
                        struct failure *failure)
{
    struct rocprof_args *args = memory_zeroed(1, sizeof *args);
    if (!args) {
        failure_memory(failure);
        return NULL;
    }
    args->file = file;
    args->stopper = *stopper;
    args->stopper.read = NULL; /* progress was reported the first time */
    if (rocprof_open(&args->rocprof, file->path, file->by_zlib, &args->stopper, failure) &&
        file_same(file, source_identity(args->rocprof.walk.in.source), failure))
        return args;
    end_args(args);
    return NULL;
}

static bool write_call(struct rocprof_args *args, const struct rocprof_record *record,
                       sqlite3_str *json, struct failure *failure)
{
    const struct rocprof *rocprof = &args->rocprof;
    const struct name *category = rocprof_category(rocprof, record);
    struct nvtx_text parts;
    int64_t number;
    if (!category)
        return true;
    switch (rocpd_what((const unsigned char *)category->text, category->length)) {
    case OF_CALL:
        args_integer(json, "correlation", record->correlation);
        return true;
    case OF_MARKER:
        break;
    default:
        return true;
    }
    const struct rocprof_origin *origin = args->file->origin;
    const struct name *text = rocprof_text(rocprof, &rocprof->markers, record->correlation);
    if (!text)
        return true;
    const unsigned char *bytes = (const unsigned char *)text->text;
    nvtx_read(bytes, text->length, &parts);
    bool step = origin->word != NVTX_NO_WORD &&
                nvtx_step(bytes, parts.name_length, &number) == origin->word;
    return ranges_args(&parts, json, failure) &&
           (!step || args_text(json, "nvtx", bytes, text->length, failure));
}

static void write_work(const struct rocprof_record *record, sqlite3_str *json)
{
    int64_t grid[3];
    bool sized = record->kind == RECORD_DISPATCH;
    args_integer(json, "device", record->device);
    args_integer(json, "stream", record->stream);
    args_integer(json, "queue", record->queue);
    args_integer(json, "correlation", record->correlation);
    for (int i = 0; i < 3 && sized; i++) {
        sized = record->block[i] > 0;
        grid[i] = !sized || record->grid[i] < 0 ? NUMBER_NONE : record->grid[i] / record->block[i];
    }
    if (sized) {
        args_three(json, "grid", grid[0], grid[1], grid[2]);
        args_three(json, "block", record->block[0], record->block[1], record->block[2]);
    }
    if (record->kind != RECORD_COPY)
        return;
    int64_t dur;
    bool timed = record->start != NUMBER_NONE && record->end >= record->start &&
                 !__builtin_sub_overflow(record->end, record->start, &dur);
    args_integer(json, "bytes", record->bytes);
    args_bandwidth(json, record->bytes, timed ? dur : NUMBER_NONE);
}

/* Copies the members into an object. */
static bool take_args(struct rocprof_args *args, sqlite3_str *json, struct token *text,
                      struct failure *failure)
{
    size_t length = (size_t)sqlite3_str_length(json);
    if (sqlite3_str_errcode(json) != SQLITE_OK ||
        !MEMORY_GROW(args->text, args->capacity, length + sizeof "{}" + SCAN_PADDING))
        return failure_memory(failure);
    args->text[0] = '{';
    if (length > 0)
        memcpy(args->text + 1, sqlite3_str_value(json), length);
    args->text[length + 1] = '}';
    memset(args->text + length + 2, 0, SCAN_PADDING);
    *text = (struct token){(const unsigned char *)args->text, length > 0 ? length + 2 : 0,
                           length > 0 ? TOKEN_NESTED : TOKEN_NONE};
    return true;
}

static bool next_args(void *begun, int64_t wanted, struct token *text, struct failure *failure)
{
    struct rocprof_args *args = begun;
    struct rocprof_record record = {.event = -1};
    while (record.event < wanted) {
        int result = rocprof_next(&args->rocprof, &record, failure);
        if (result <= 0)
            return result < 0 ? false : file_changed(args->file, failure);
    }
    if (record.event > wanted)
        return file_changed(args->file, failure);
    sqlite3_str *json = sqlite3_str_new(NULL);
    bool done = true;
    if (record.kind == RECORD_CALL)
        done = write_call(args, &record, json, failure);
    else
        write_work(&record, json);
    done = done && take_args(args, json, text, failure);
    sqlite3_free(sqlite3_str_finish(json));
    return done;
}

#define FIRST_KEY "\"rocprofiler-sdk-tool\""

static bool is_first_key(const char *text)
{
    static const char spaces[] = " \t\r\n";
    text += strspn(text, spaces);
    if (*text++ != '{')
        return false;
    text += strspn(text, spaces);
    return strncmp(text, FIRST_KEY, sizeof FIRST_KEY - 1) == 0;
}

/* Decides by the first key of the document. If the file does not start exactly like rocprofv3's
** output, it is examined only if its path suggests this format. */
static bool look(const char *path, bool json, bool *is, struct failure *failure)
{
    enum { MOST = 64 };
    static const char usual[] = "{" FIRST_KEY;
    char bytes[MOST + 1] = "";
    size_t length;
    *is = json && source_begins(path, usual, sizeof usual - 1);
    if (json && !*is && strstr(path, "results"))
        *is = source_head(path, bytes, MOST, &length, failure) && is_first_key(bytes);
    return failure->code == FAILURE_NONE;
}

const struct row_source rocprof_json = {.look = look,
                                        .read = read_document,
                                        .begin = begin_args,
                                        .next = next_args,
                                        .end = end_args,
                                        .release = memory_free};
