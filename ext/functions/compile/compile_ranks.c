/*
** compile_ranks: groups of ranks with the same compilations.
*/
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "call_logs.h"

static const struct table_column columns_of_log_ranks[] = {
    {"what", "TEXT", "'ids' of the compilations, or 'cache': cache lookups in order"},
    {"groups", "INTEGER", "number of groups of ranks that differ in it"},
    {"ranks", "TEXT", "JSON array of the ranks of this group, without unknown ranks"},
    {"value", "TEXT", "JSON array of ids, or one letter per lookup for hit, miss and bypass"},
};

static const struct argument arguments_of_log_ranks[] = {{LOG_ARGUMENT}};

/* A text about the compilations of a rank. */
struct rank_value {
    int64_t rank; /* must be first; NUMBER_NONE: unknown */
    struct writer value;
};

static int id_order(const void *a, const void *b)
{
    const struct name *const *x = a, *const *y = b;
    return name_compare(*x, *y);
}

/* Writes the ids of a rank's compilations without duplicates. */
static bool write_ids(struct writer *to, const struct compile_log *log, int64_t rank)
{
    const struct stopper never = {.stop = NULL};
    struct failure unused = {FAILURE_NONE, NULL, NULL, 0};
    const struct name **ids = memory_items(log->compilation_count, sizeof *ids);
    size_t count = 0, written = 0;
    for (size_t i = 0; ids && i < log->compilation_count; i++)
        if (log->processes[log->compilations[i].process].rank == rank)
            ids[count++] = compile_text(log, log->compilations[i].id);
    bool done = ids && sort_items(ids, count, sizeof *ids, id_order, &never, &unused);
    write_string(to, "[");
    for (size_t i = 0; done && i < count; i++) {
        if (i > 0 && ids[i] == ids[i - 1])
            continue;
        write_string(to, written++ > 0 ? ", " : "");
        write_json(to, ids[i]->text, ids[i]->length);
    }
    write_string(to, "]");
    memory_free(ids);
    failure_clear(&unused);
    return done && !to->failed;
}

/* Writes the cache lookups of a rank's processes, one process after the other. */
static bool write_caches(struct writer *to, const struct compile_log *log, int64_t rank)
{
    for (size_t i = 0; i < log->process_count; i++)
        if (log->processes[i].rank == rank && log->processes[i].caches.length > 0)
            write_bytes(to, (const char *)log->processes[i].caches.bytes,
                        log->processes[i].caches.length);
    return !to->failed;
}

static bool is_same(const struct writer *a, const struct writer *b)
{
    return a->length == b->length && (a->length == 0 || memcmp(a->bytes, b->bytes, a->length) == 0);
}

/* Adds the groups with equal values, in the order of their lowest ranks. */
static void add_groups(struct result *result, const char *what, const struct rank_value *values,
                       size_t count)
{
    int64_t groups = 0;
    for (size_t pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < count; i++) {
            const struct writer *value = &values[i].value;
            struct writer ranks = {0};
            size_t first = 0, written = 0;
            while (!is_same(&values[first].value, &values[i].value))
                first++;
            groups += pass == 0 && first == i;
            if (pass == 0 || first < i)
                continue;
            write_string(&ranks, "[");
            for (size_t k = i; k < count; k++)
                if (values[k].rank != NUMBER_NONE && is_same(&values[k].value, &values[i].value)) {
                    write_string(&ranks, written++ > 0 ? ", " : "");
                    write_integer(&ranks, values[k].rank);
                }
            write_string(&ranks, "]");
            result_string(result, what);
            result_integer(result, groups);
            result_log_written(result, &ranks);
            result_text(result, value->length > 0 ? value->bytes : "", value->length);
        }
}

static void add_log_ranks(struct result *result, const struct compile_log *log, size_t unused)
{
    const struct stopper never = {.stop = NULL};
    struct failure failure = {FAILURE_NONE, NULL, NULL, 0};
    struct rank_value *values = memory_zeroed(log->process_count + 1, sizeof *values);
    size_t count = 0;
    (void)unused;
    for (size_t i = 0; values && i < log->process_count; i++)
        values[count++].rank = log->processes[i].rank;
    bool done = values && sort_numbered(values, count, sizeof *values, &never, &failure);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (i == 0 || values[i].rank != values[kept - 1].rank)
            values[kept++].rank = values[i].rank;
    for (int kind = 0; done && kind < 2; kind++) {
        for (size_t i = 0; done && i < kept; i++)
            done = kind == 0 ? write_ids(&values[i].value, log, values[i].rank)
                             : write_caches(&values[i].value, log, values[i].rank);
        if (done)
            add_groups(result, kind == 0 ? "ids" : "cache", values, kept);
        for (size_t i = 0; i < kept; i++)
            writer_clear(&values[i].value);
    }
    if (!done)
        result_lost(result);
    failure_clear(&failure);
    memory_free(values);
}

static int log_ranks_produce(struct call *call, struct rows **rows)
{
    return call_log_rows(call, rows, add_log_ranks, true);
}

const struct table_function compile_ranks_function = {
    .name = "compile_ranks",
    .family = FAMILY_COMPILER,
    .question = "Do all ranks compile the same?",
    .text = "groups of ranks that compile the same, from TORCH_TRACE logs, one row per group",
    COLUMNS(columns_of_log_ranks),
    ARGUMENTS(arguments_of_log_ranks),
    .produce = log_ranks_produce,
};
