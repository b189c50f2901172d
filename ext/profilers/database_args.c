#include "database_args.h"

#include <string.h>

#include "base/memory.h"
#include "text/scan.h"
#include "text/text.h"

struct args {
    const struct trace_file *file; /* borrowed */
    struct readonly readonly;
    struct database_read read;
    struct args_table {
        struct table_scan scan;
        size_t next; /* index of the next row of the scan */
        bool open;
    } tables[EVENT_TABLES];
    char *text;
    size_t length, capacity;
};

void database_args_close(void *reader)
{
    struct args *args = reader;
    if (!args)
        return;
    for (size_t t = 0; t < EVENT_TABLES; t++)
        scan_close(&args->tables[t].scan);
    if (args->read.state) {
        const struct profiler *profiler = ((const struct row_origin *)args->file->origin)->profiler;
        profiler->settle(args->read.state);
        profiler->free_state(args->read.state);
    }
    readonly_close(&args->readonly);
    memory_free(args->text);
    memory_free(args);
}

static bool changed(const struct trace_file *file, struct failure *failure)
{
    return failure_set(failure, FAILURE_READ,
                       "'%s' has changed while it was read: run the query again", file->path);
}

/* Opens a reader of args; NULL on failure. */
static struct args *open_args(const struct trace_file *file, const struct stopper *stopper,
                              struct failure *failure)
{
    const struct row_origin *origin = file->origin;
    struct args *args = memory_zeroed(1, sizeof *args);
    if (!args) {
        failure_memory(failure);
        return NULL;
    }
    args->file = file;
    args->read.readonly = &args->readonly;
    args->read.failure = failure;
    if (readonly_open(&args->readonly, file->path, stopper, failure) &&
        readonly_same(&args->readonly, &file->identity, failure) &&
        origin->profiler->open(&args->read, origin->state))
        return args;
    if (failure->code == FAILURE_NONE)
        failure_move(failure, &args->readonly.trouble);
    database_args_close(args);
    return NULL;
}

/* Moves to a row of a table by its index. */
static bool go_to(struct args *args, size_t t, size_t index, struct failure *failure)
{
    const struct row_origin *origin = args->file->origin;
    const struct event_table *table = &args->read.tables[t];
    struct args_table *of = &args->tables[t];
    if (!of->open && !scan_open(&of->scan, &args->readonly, table->table,
                                origin->profiler->arg_columns[table->kind], NULL, failure))
        return false;
    if (!of->open || of->next > index || index - of->next >= BETWEEN) {
        scan_seek(&of->scan, origin->rowids[origin->tables[t].checkpoint + index / BETWEEN]);
        of->next = index / BETWEEN * BETWEEN;
    }
    of->open = true;
    if (of->next % BETWEEN == 0 && !readonly_unchanged(&args->readonly, failure))
        return false;
    enum scanned scanned = SCANNED_ROW;
    while (of->next <= index && (scanned == SCANNED_ROW || scanned == SCANNED_LONG)) {
        scanned = scan_next(&of->scan, failure);
        of->next++;
    }
    return scanned == SCANNED_ROW;
}

/* Copies the members into an object. Without members, or if too long, there are no args. */
static bool take(struct args *args, sqlite3_str *json, struct failure *failure)
{
    int code = sqlite3_str_errcode(json);
    args->length = code == SQLITE_OK ? (size_t)sqlite3_str_length(json) : 0;
    if (code == SQLITE_TOOBIG) /* with escapes, it exceeds SQLite's limit for a value */
        return true;
    if (code != SQLITE_OK ||
        !MEMORY_GROW(args->text, args->capacity, args->length + sizeof "{}" + SCAN_PADDING))
        return failure_memory(failure);
    if (args->length == 0)
        return true;
    args->text[0] = '{';
    memcpy(args->text + 1, sqlite3_str_value(json), args->length);
    args->length += 2;
    args->text[args->length - 1] = '}';
    memset(args->text + args->length, 0, SCAN_PADDING);
    return true;
}

bool database_args(void **reader, const struct trace_file *file, size_t row,
                   const struct stopper *stopper, const unsigned char **text, size_t *length,
                   struct failure *failure)
{
    const struct row_origin *origin = file->origin;
    struct args *args = *reader ? *reader : open_args(file, stopper, failure);
    *reader = args;
    if (!args)
        return false;
    int64_t event = file->columns.event[row];
    size_t t = origin->table_count - 1;
    while (t > 0 && (origin->tables[t].event > event || !args->read.tables[t].table))
        t--;
    args->file = file;
    args->read.known = origin->state;
    args->read.failure = failure;
    sqlite3_str *json = sqlite3_str_new(args->readonly.db);
    bool done = go_to(args, t, (size_t)(event - origin->tables[t].event), failure) &&
                origin->profiler->args(&args->read, file, row, args->read.tables[t].kind,
                                       &args->tables[t].scan, json) &&
                take(args, json, failure);
    sqlite3_free(sqlite3_str_finish(json));
    if (!done) {
        if (failure->code == FAILURE_NONE && args->readonly.trouble.code != FAILURE_NONE)
            failure_move(failure, &args->readonly.trouble);
        if (failure->code == FAILURE_NONE)
            changed(file, failure);
        database_args_close(args);
        *reader = NULL;
        return false;
    }
    *text = args->length > 0 ? (const unsigned char *)args->text : NULL;
    *length = args->length;
    return true;
}

static void key_of(sqlite3_str *json, const char *key)
{
    sqlite3_str_appendf(json, "%s\"%s\":", sqlite3_str_length(json) > 0 ? "," : "", key);
}

void args_integer(sqlite3_str *json, const char *key, int64_t value)
{
    if (value == NUMBER_NONE)
        return;
    key_of(json, key);
    sqlite3_str_appendf(json, "%lld", (long long)value);
}

void args_word(sqlite3_str *json, const char *key, const char *word)
{
    key_of(json, key);
    sqlite3_str_appendf(json, "\"%s\"", word);
}

void args_raw(sqlite3_str *json, const char *key, const char *text, size_t length)
{
    if (!text)
        return;
    key_of(json, key);
    sqlite3_str_append(json, text, (int)length);
}

bool args_quoted(sqlite3_str *json, const unsigned char *text, size_t length,
                 struct failure *failure)
{
    static const char hexadecimal[] = "0123456789abcdef";
    enum { LONGEST = 6 /* bytes per escape */ };
    char *repaired = text_repaired((const char *)text, &length);
    char *escaped = repaired ? memory_allocate(LONGEST * length + 1) : NULL, *to = escaped;
    for (size_t i = 0; escaped && i < length; i++) {
        unsigned char c = (unsigned char)repaired[i];
        if (c < 0x20) {
            memcpy(to, "\\u00", 4);
            to[4] = hexadecimal[c >> 4];
            to[5] = hexadecimal[c & 15];
            to += LONGEST;
        } else {
            if (c == '"' || c == '\\')
                *to++ = '\\';
            *to++ = (char)c;
        }
    }
    if (escaped) { /* at once, because appending in parts would copy a long text again and again */
        sqlite3_str_appendchar(json, 1, '"');
        sqlite3_str_append(json, escaped, (int)(to - escaped));
        sqlite3_str_appendchar(json, 1, '"');
    }
    memory_free(repaired);
    memory_free(escaped);
    return escaped || failure_memory(failure);
}

bool args_text(sqlite3_str *json, const char *key, const unsigned char *text, size_t length,
               struct failure *failure)
{
    if (!text)
        return true;
    key_of(json, key);
    return args_quoted(json, text, length, failure);
}

void args_three(sqlite3_str *json, const char *key, int64_t x, int64_t y, int64_t z)
{
    if (x == NUMBER_NONE || y == NUMBER_NONE || z == NUMBER_NONE)
        return;
    key_of(json, key);
    sqlite3_str_appendf(json, "[%lld,%lld,%lld]", (long long)x, (long long)y, (long long)z);
}

void args_device(sqlite3_str *json, const struct trace_file *file, size_t row)
{
    const struct place *place = row_place(&file->columns, row);
    const struct identifier *pid = &file->tracks.items[place->track].pid;
    args_integer(json, "device", pid->kind == IDENTIFIER_INTEGER ? pid->value : NUMBER_NONE);
    args_integer(json, "stream", place->stream);
}

void args_bandwidth(sqlite3_str *json, int64_t bytes, int64_t dur)
{
    if (bytes == NUMBER_NONE || dur == NUMBER_NONE || dur == 0)
        return;
    key_of(json, "memory bandwidth (GB/s)");
    sqlite3_str_appendf(json, "%!.15g", (double)bytes / (double)dur);
}

bool args_metadata(struct trace_file *file, const char *producer, const char *host, size_t length,
                   int64_t pid, struct failure *failure)
{
    sqlite3_str *json = sqlite3_str_new(NULL);
    args_word(json, "producer", producer);
    bool done =
        args_text(json, "hostname", (const unsigned char *)host, host ? length : 0, failure);
    args_integer(json, "pid", pid);
    size_t size = (size_t)sqlite3_str_length(json);
    file->metadata = done ? memory_allocate(size + sizeof "{}") : NULL;
    if (done && (!file->metadata || sqlite3_str_errcode(json) != SQLITE_OK)) {
        done = failure_memory(failure);
    } else if (done) {
        file->metadata[0] = '{';
        memcpy(file->metadata + 1, sqlite3_str_value(json), size);
        memcpy(file->metadata + 1 + size, "}", sizeof "}");
        file->metadata_length = size + 2;
    }
    sqlite3_free(sqlite3_str_finish(json));
    return done;
}
