#include "load.h"

#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "document_rows.h"
#include "file/kinds.h"
#include "file/row_source.h"
#include "linking/launches.h"
#include "linking/link.h"
#include "odd_times.h"
#include "steps/profiler_steps.h"

/* Moves the time of a row from the profiler's own zero to ns since 1970 (T1). */
static void add_base_to(struct trace_file *file, size_t row)
{
    struct columns *columns = &file->columns;
    int64_t *ts = &columns->ts[row], *dur = &columns->dur[row];
    if (*ts == NUMBER_NONE)
        return;
    if (__builtin_add_overflow(*ts, file->base, ts) || *ts == NUMBER_NONE) {
        *ts = *dur = NUMBER_NONE;
        problem_add(&file->problems, PROBLEM_TIME, 0);
    } else if (never_ends(*ts, *dur)) {
        *dur = NUMBER_NONE;
        problem_add(&file->problems, PROBLEM_END, 0);
    }
}

/* Extends the span of a file over the Es that count for it (T2), with times shifted by `base`. */
static void span_ends(struct loading *loading, int64_t base)
{
    for (size_t i = 0; i < loading->edge_count; i++) {
        const struct edge *edge = &loading->edges[i];
        int64_t ts;
        if (edge->row == ROW_NONE && !edge->own_span && edge->ts != NUMBER_NONE &&
            !__builtin_add_overflow(edge->ts, base, &ts))
            loading_span(loading->file, ts, NUMBER_NONE);
    }
}

/* Recomputes the span of a file from the events that have a time. */
static void span_again(struct loading *loading)
{
    struct trace_file *file = loading->file;
    const struct columns *columns = &file->columns;
    file->first = file->last = NUMBER_NONE;
    for (size_t row = 0; row < columns->count; row++) {
        unsigned char phase = row_place(columns, row)->phase;
        if (columns->kind[row] != KIND_TRACE &&
            (phase == 'X' || phase == 'B' || (phase == 'b' && file->async)))
            loading_span(file, columns->ts[row], columns->dur[row]);
    }
    span_ends(loading, file->base);
}

static bool add_base(struct loading *loading)
{
    struct trace_file *file = loading->file;
    const struct columns *columns = &file->columns;
    if (file->base == 0)
        return true;
    for (size_t row = 0; row < columns->count; row++) {
        if (!stopper_goes_on(loading->stopper, row, loading->failure))
            return false;
        add_base_to(file, row);
    }
    if (file->first == NUMBER_NONE ||
        (!__builtin_add_overflow(file->first, file->base, &file->first) &&
         !__builtin_add_overflow(file->last, file->base, &file->last) &&
         file->first != NUMBER_NONE && file->last != NUMBER_NONE))
        return true;
    span_again(loading);
    return true;
}

/* Corrects impossible times (I1, I2). */
static bool mend_times(struct loading *loading)
{
    const struct file_health *health = &loading->file->health;
    size_t untimed = health->odd_count;
    if (untimed > 0)
        span_again(loading);
    if (!overruns_find(loading))
        return false;
    if (health->odd_count > untimed)
        span_again(loading);
    return true;
}

static bool finish(struct loading *loading)
{
    struct trace_file *file = loading->file;
    columns_fit(&file->columns);
    if (!pairs_find(file, loading->edges, loading->edge_count, loading->stopper,
                    loading->failure) ||
        !kinds_find(file, loading->stopper, loading->failure))
        return false;
    span_ends(loading, 0);
    table_clear(&file->tracks.table);
    table_clear(&file->columns.places.table);
    if (!untimed_find(loading) || !add_base(loading) || !mend_times(loading) ||
        !links_find(file, loading->stopper, loading->failure) ||
        !flows_follow(file, loading->flows, loading->flow_count, loading->stopper,
                      loading->failure) ||
        !bonds_follow(file, loading->bonds, loading->bond_count, loading->stopper,
                      loading->failure) ||
        !annotations_find(file, loading->externals, loading->external_count, loading->stopper,
                          loading->failure) ||
        !unlaunched_place(file, loading->stopper, loading->failure) ||
        !launches_find(file, loading->stopper, loading->failure) ||
        !steps_find(file, loading->stopper, loading->failure))
        return false;
    return links_count_missing(file, loading->stopper, loading->failure);
}

static bool ends_with(const char *path, const char *tail)
{
    size_t length = strlen(path), tail_length = strlen(tail);
    return length >= tail_length && strcasecmp(path + length - tail_length, tail) == 0;
}

/* Finds the source of a file; NULL means a JSON document. */
static bool find_source(const char *path, const struct row_source *const *sources,
                        const struct row_source **source, struct failure *failure)
{
    bool json = ends_with(path, ".json") || ends_with(path, ".gz"), is = false, done = true;
    *source = NULL;
    for (; sources && *sources && done && !is; sources++) {
        done = (*sources)->look(path, json, &is, failure);
        *source = is ? *sources : NULL;
    }
    return done;
}

/* Creates the file of a loading. */
static bool begin(struct loading *loading, const char *path, const struct load_options *options,
                  const struct row_source *source, size_t part, bool by_zlib)
{
    struct trace_file *file = loading->file = file_new(path, loading->failure);
    if (!file)
        return false;
    if (options->phases)
        memcpy(file->phases, options->phases, sizeof file->phases);
    file->phases['X'] = file->phases['B'] = true;
    file->phases['E'] = false;
    file->by_zlib = by_zlib;
    file->part = part;
    file->source = source;
    loading->whole = loading->whole && !(file->source && options->look);
    return true;
}

/* Derives the remaining data after reading. */
static bool complete(struct loading *loading)
{
    if (loading->file->trouble.code == FAILURE_MEMORY) /* cached files need the text */
        return failure_memory(loading->failure);
    loading->file->loaded = loading->whole;
    return !loading->whole || finish(loading);
}

/* Reads parts of a file: whole, or only the facts known without rows. Documents have one part. */
static bool read_by(bool by_zlib, const char *path, const struct load_options *options, bool whole,
                    struct trace_file **files, const struct stopper *stopper, bool *unsure,
                    struct failure *failure)
{
    size_t count = options->parts ? options->part_count : 1;
    struct loading *loadings = memory_zeroed(count, sizeof *loadings);
    const struct row_source *source;
    bool done = find_source(path, options->sources, &source, failure) &&
                (loadings || failure_memory(failure));
    for (size_t i = 0; done && i < count; i++) {
        loadings[i] = (struct loading){.whole = whole,
                                       .look = options->look,
                                       .idle = options->idle,
                                       .kept = options->kept,
                                       .head = options->head,
                                       .stopper = stopper,
                                       .failure = failure};
        done = begin(&loadings[i], path, options, source, options->parts ? options->parts[i] : 0,
                     by_zlib);
    }
    if (done)
        done = source ? source->read(loadings, count) : document_rows_read(loadings);
    for (size_t i = 0; loadings && i < count; i++) {
        done = done && complete(&loadings[i]);
        files[i] = loadings[i].file;
        *unsure = *unsure || loadings[i].unsure;
        memory_free(loadings[i].edges);
        memory_free(loadings[i].externals);
        memory_free(loadings[i].flows);
        memory_free(loadings[i].bonds);
    }
    for (size_t i = 0; loadings && i < count && !done; i++) {
        file_release(files[i]);
        files[i] = NULL;
    }
    memory_free(loadings);
    return done;
}

static bool read_files(const char *path, const struct load_options *options, bool whole,
                       struct trace_file **files, const struct stopper *stopper,
                       struct failure *failure)
{
    bool unsure = false;
    bool done = read_by(false, path, options, whole, files, stopper, &unsure, failure);
    if (!done || !unsure)
        return done;
    file_release(files[0]);
    files[0] = NULL;
    return read_by(true, path, options, whole, files, stopper, &unsure, failure);
}

struct trace_file *file_load(const char *path, const struct load_options *options,
                             const struct stopper *stopper, struct failure *failure)
{
    struct trace_file *file = NULL;
    return read_files(path, options, true, &file, stopper, failure) ? file : NULL;
}

struct trace_file *file_peek(const char *path, const struct load_options *options,
                             const struct stopper *stopper, struct failure *failure)
{
    struct trace_file *file = NULL;
    if (!read_files(path, options, false, &file, stopper, failure) || file->rank_known)
        return file;
    file_release(file);
    return file_load(path, options, stopper, failure);
}

bool parts_load(const char *path, const struct load_options *options, struct trace_file **files,
                const struct stopper *stopper, struct failure *failure)
{
    return read_files(path, options, true, files, stopper, failure);
}
