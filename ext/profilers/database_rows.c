#include "database_rows.h"

#include <string.h>

#include "base/memory.h"
#include "loading/loading.h"
#include "database_args.h"

static const struct profiler *const profilers[] = {&nsys_profiler, &rocpd_profiler,
                                                   &ascend_profiler};

static void release(void *given)
{
    struct row_origin *origin = given;
    if (!origin)
        return;
    if (origin->state)
        origin->profiler->free_state(origin->state);
    memory_free(origin->rowids);
    memory_free(origin);
}

/* Keeps the rowid of every BETWEEN-th row. */
static bool keep_rowid(struct row_origin *origin, size_t i, int64_t rowid, struct failure *failure)
{
    if (i % BETWEEN != 0)
        return true;
    if (!MEMORY_GROW(origin->rowids, origin->rowid_capacity, origin->rowid_count + 1))
        return failure_memory(failure);
    origin->rowids[origin->rowid_count++] = rowid;
    return true;
}

/* Counts an overlong row, in the first part. */
static void pass_long(struct trace_file *file)
{
    problem_add(&file->problems, PROBLEM_TOO_LONG, 0);
    file->events += file->part == 0;
    file->skipped += file->part == 0;
}

/* Parts of a database that are read together. */
struct parts_read {
    struct readonly readonly;
    struct database_read *reads;
    size_t count;
    struct failure *failure;
};

/* Whether a part has rows in a table of the database. */
static bool has_rows(const struct database_read *read, size_t t)
{
    const struct event_table *table = &read->tables[t];
    return !table->owned || table->part == read->file->part;
}

/* Passes a row of a table to the parts. */
static bool take_row(struct parts_read *parts, size_t t, const struct table_scan *scan,
                     enum scanned scanned, size_t i, int64_t event)
{
    bool done = true;
    for (size_t part = 0; done && part < parts->count; part++) {
        struct database_read *read = &parts->reads[part];
        struct row_origin *origin = read->file->origin;
        if (!has_rows(read, t))
            continue;
        done = keep_rowid(origin, i, scan->rowid, parts->failure);
        if (done && scanned == SCANNED_LONG)
            pass_long(read->file);
        else if (done)
            done = origin->profiler->row(read, read->tables[t].kind, scan, event);
    }
    return done;
}

/* Reads the rows of a table. `*event` is the number of the next one. */
static bool read_table(struct parts_read *parts, size_t t, int64_t *event)
{
    struct database_read *first = &parts->reads[0];
    const struct event_table *table = &first->tables[t];
    const struct profiler *profiler = ((const struct row_origin *)first->file->origin)->profiler;
    struct table_scan scan = {.statement = NULL};
    enum scanned scanned = SCANNED_FAILED;
    static const char *const none[] = {NULL};
    bool wanted = false; /* false: only count the rows */
    for (size_t part = 0; part < parts->count; part++) {
        struct row_origin *origin = parts->reads[part].file->origin;
        origin->tables[t] = (struct kept_table){*event, origin->rowid_count};
        wanted = wanted || has_rows(&parts->reads[part], t);
    }
    if (!table->table)
        return true;
    bool done = scan_open(&scan, &parts->readonly, table->table,
                          wanted ? profiler->columns[table->kind] : none, NULL, parts->failure) &&
                (!wanted || profiler->complete(first, table));
    for (size_t i = 0; done; i++) {
        scanned = scan_next(&scan, parts->failure);
        if (scanned != SCANNED_ROW && scanned != SCANNED_LONG)
            break;
        done = take_row(parts, t, &scan, scanned, i, *event);
        ++*event;
    }
    scan_close(&scan);
    return done && scanned == SCANNED_END && parts->readonly.trouble.code == FAILURE_NONE;
}

static bool read_tables(struct parts_read *parts)
{
    int64_t event = 0;
    bool done = true;
    size_t tables = 0;
    while (done && tables < parts->reads[0].table_count)
        done = read_table(parts, tables++, &event);
    for (size_t part = 0; part < parts->count && parts->failure->code == FAILURE_NONE; part++) {
        struct database_read *read = &parts->reads[part];
        struct row_origin *origin = read->file->origin;
        origin->table_count = tables; /* args are only read from the tables of rows */
        if (origin->profiler->finish)
            done = origin->profiler->finish(read) && done;
    }
    return done;
}

static const struct profiler *profiler_of(const struct readonly *readonly)
{
    for (size_t i = 0; i < sizeof profilers / sizeof *profilers; i++)
        if (profilers[i]->is(readonly))
            return profilers[i];
    return NULL;
}

/* Marks the file as not a trace. */
static bool refuse(struct database_read *read)
{
    struct trace_file *file = read->file;
    file->outcome = DOCUMENT_NOT_TRACE;
    file->rank_known = true;
    if (readonly_complete(file->path, &file->trouble))
        failure_set(&file->trouble, FAILURE_NOT_TRACE,
                    read->readonly->identity.size > 0
                        ? "'%s': a SQLite database of no known profiler"
                        : "'%s': empty",
                    file->path);
    return file->trouble.text || failure_memory(read->failure);
}

/* Writes the metadata, and lets the profiler add its own. */
static bool describe(struct database_read *read, const struct profiler *profiler)
{
    struct trace_file *file = read->file;
    sqlite3_str *json = sqlite3_str_new(NULL);
    bool done = args_text(json, "producer", (const unsigned char *)profiler->name,
                          strlen(profiler->name), read->failure) &&
                profiler->describe(read, json);
    size_t length = (size_t)sqlite3_str_length(json);
    file->metadata = memory_allocate(length + sizeof "{}");
    if (!file->metadata || sqlite3_str_errcode(json) != SQLITE_OK) {
        done = failure_memory(read->failure);
    } else {
        file->metadata[0] = '{';
        memcpy(file->metadata + 1, sqlite3_str_value(json), length);
        memcpy(file->metadata + 1 + length, "}", sizeof "}");
        file->metadata_length = length + 2;
    }
    sqlite3_free(sqlite3_str_finish(json));
    return done;
}

/* Prepares a part of an open database. False on failure or trouble, or if it does not exist. */
static bool open_part(struct database_read *read)
{
    struct trace_file *file = read->file;
    const struct trace_file *head = read->loading->head;
    if (head && !readonly_same(read->readonly, &head->identity, read->failure))
        return false; /* its parts may have changed */
    const struct row_origin *known = head ? head->origin : NULL;
    const struct profiler *profiler = known ? known->profiler : profiler_of(read->readonly);
    if (!profiler) {
        refuse(read);
        return false;
    }
    struct row_origin *origin = memory_zeroed(1, sizeof *origin);
    if (!origin)
        return failure_memory(read->failure);
    file->origin = origin;
    origin->profiler = profiler;
    bool done = readonly_complete(file->path, read->failure) &&
                profiler->open(read, known ? known->state : NULL);
    if (read->state && read->failure->code == FAILURE_NONE) /* also if later rows are damaged */
        done = describe(read, profiler) && done;
    origin->state = read->state;
    return done;
}

/* Ends the reading of a part. */
static void close_part(struct database_read *read)
{
    struct trace_file *file = read->file;
    struct row_origin *origin = file->origin;
    const struct failure *trouble = &read->readonly->trouble;
    const struct trace_file *head = read->loading->head;
    if (trouble->code == FAILURE_NONE && head && head->outcome == DOCUMENT_DAMAGED)
        trouble = &head->trouble; /* found by an earlier look at the parts */
    if (origin && origin->state) {
        origin->profiler->settle(origin->state);
        file->origin_size = sizeof *origin + origin->rowid_capacity * sizeof *origin->rowids;
    }
    if (trouble->code == FAILURE_NONE)
        return;
    file->outcome = DOCUMENT_DAMAGED;
    failure_set(&file->trouble, trouble->code, "%s", trouble->text);
}

static bool read_database(struct loading *loadings, size_t count)
{
    struct failure *failure = loadings[0].failure;
    struct parts_read parts = {.count = count, .failure = failure};
    parts.reads = memory_zeroed(count, sizeof *parts.reads);
    if (!parts.reads)
        return failure_memory(failure);
    bool done =
        readonly_open(&parts.readonly, loadings[0].file->path, loadings[0].stopper, failure);
    done = done && parts.readonly.trouble.code == FAILURE_NONE;
    for (size_t part = 0; part < count; part++) {
        struct trace_file *file = loadings[part].file;
        parts.reads[part] = (struct database_read){.readonly = &parts.readonly,
                                                   .loading = &loadings[part],
                                                   .file = file,
                                                   .failure = failure};
        file->identity = parts.readonly.identity;
        file->rank_known = true;
        file->json_size = NUMBER_NONE;
        done = done && open_part(&parts.reads[part]);
    }
    if (done && loadings[0].whole)
        read_tables(&parts);
    for (size_t part = 0; part < count; part++)
        close_part(&parts.reads[part]);
    if (failure->code == FAILURE_NONE)
        readonly_unchanged(&parts.readonly, failure);
    readonly_close(&parts.readonly);
    memory_free(parts.reads);
    return failure->code == FAILURE_NONE;
}

static bool look(const char *path, bool json, bool *is, struct failure *failure)
{
    static const char magic[] = "SQLite format 3";
    if (!json)
        return readonly_look(path, is, failure);
    *is = source_begins(path, magic, sizeof magic);
    return true;
}

const struct row_source database_rows = {.look = look,
                                         .complete = readonly_complete,
                                         .read = read_database,
                                         .args = database_args,
                                         .args_close = database_args_close,
                                         .release = release};
