#include "nsys.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "text/number.h"
#include "base/sort.h"

struct readonly_table *nsys_table(const struct readonly *readonly, const char *name)
{
    struct readonly_table *best = readonly_table(readonly, name);
    size_t length = strlen(name);
    int64_t highest = -1, number;
    for (size_t i = 0; !best && i < readonly->table_count; i++) {
        const char *other = readonly->tables[i].name;
        if (strncasecmp(other, name, length) == 0 && strncasecmp(other + length, "_V", 2) == 0 &&
            number_integer((const unsigned char *)other + length + 2, strlen(other + length + 2),
                           &number) &&
            number > highest)
            highest = number;
    }
    if (!best && highest >= 0) {
        char *versioned = sqlite3_mprintf("%s_V%lld", name, (long long)highest);
        best = versioned ? readonly_table(readonly, versioned) : NULL;
        sqlite3_free(versioned);
    }
    return best;
}

/* The process in a globalTid or globalPid. */
static int64_t process_in(int64_t global)
{
    return global >> 24;
}

/* Notes a process of NVTX or RUNTIME. */
static bool take_only(struct database_read *read, const struct table_scan *scan)
{
    struct nsys *nsys = read->state;
    int64_t global = scan_integer(scan, 0);
    if (global == NUMBER_NONE)
        return true;
    nsys->only_several =
        nsys->only_several || (nsys->only_seen && nsys->only != process_in(global));
    nsys->only = process_in(global);
    nsys->only_seen = true;
    return true;
}

bool nsys_process(struct database_read *read, const struct table_scan *scan, int column,
                  int64_t *process)
{
    static const char *const columns[] = {"globalTid", NULL};
    struct nsys *nsys = read->state;
    int64_t global = scan_integer(scan, column);
    *process = process_in(global);
    if (global != NUMBER_NONE)
        return true;
    for (int kind = NSYS_NVTX; !nsys->only_known && kind <= NSYS_RUNTIME; kind++)
        if (!database_each(read, read->tables[kind].table, columns, NULL, take_only))
            return false;
    nsys->only_known = true;
    *process = nsys->only_seen && !nsys->only_several ? nsys->only : 0;
    return true;
}

bool nsys_text(struct database_read *read, const struct table_scan *scan,
               const unsigned char **text, size_t *length)
{
    struct nsys *nsys = read->state;
    *text = scan_text(scan, NVTX_TEXT, length);
    return *text || strings_find(&nsys->strings, scan_integer(scan, NVTX_TEXT_ID), text, length,
                                 read->failure);
}

enum { MOST_PARTS = 1024 }; /* limit, because each part takes part in reading every row */

/* The part of a process; NULL without one. */
static struct nsys_part *part_of(const struct nsys *nsys, int64_t process)
{
    for (size_t i = 0; i < nsys->part_count; i++)
        if (nsys->parts[i].process == process)
            return &nsys->parts[i];
    return NULL;
}

static bool take_part(struct database_read *read, int64_t process, int64_t device)
{
    struct nsys *nsys = read->state;
    struct nsys_part *part = part_of(nsys, process);
    if (!part) {
        if (nsys->part_count == MOST_PARTS)
            return failure_set(read->failure, FAILURE_READ,
                               "cannot read '%s': it has work of more than 1,024 processes",
                               read->readonly->path);
        if (!MEMORY_GROW(nsys->parts, nsys->part_capacity, nsys->part_count + 1))
            return failure_memory(read->failure);
        part = &nsys->parts[nsys->part_count++];
        *part = (struct nsys_part){process, device, -1};
    }
    if (device < part->device)
        part->device = device;
    return true;
}

/* Takes the process and device of device work. */
static bool take_work(struct database_read *read, const struct table_scan *scan)
{
    int64_t process, device = scan_integer(scan, 1);
    return nsys_process(read, scan, 0, &process) &&
           take_part(read, process, device == NUMBER_NONE ? INT64_MAX : device);
}

/* Takes the process of a call or a range. */
static bool take_host(struct database_read *read, const struct table_scan *scan)
{
    int64_t process;
    return nsys_process(read, scan, 0, &process) && take_part(read, process, INT64_MAX);
}

static int part_order(const void *a, const void *b)
{
    const struct nsys_part *x = a, *y = b;
    int order = COMPARE(x->device, y->device);
    return order ? order : COMPARE(x->process, y->process);
}

/* Finds the parts (N4). */
static bool find_parts(struct database_read *read)
{
    static const char *const of_work[] = {"globalPid", "deviceId", NULL};
    static const char *const of_host[] = {"globalTid", NULL};
    struct nsys *nsys = read->state;
    for (int kind = NSYS_KERNEL; kind <= NSYS_GRAPH; kind++)
        if (!database_each(read, read->tables[kind].table, of_work, NULL, take_work))
            return false;
    for (int kind = NSYS_RUNTIME; nsys->part_count == 0 && kind >= NSYS_NVTX; kind--)
        if (!database_each(read, read->tables[kind].table, of_host, NULL, take_host))
            return false;
    if (nsys->part_count > 0)
        qsort(nsys->parts, nsys->part_count, sizeof *nsys->parts, part_order);
    return true;
}

/* Takes a thread's rank from MPI_RANKS. */
static bool take_rank(struct database_read *read, const struct table_scan *scan)
{
    int64_t process, rank = scan_integer(scan, 1);
    if (!nsys_process(read, scan, 0, &process))
        return false;
    struct nsys_part *part = part_of(read->state, process);
    if (part && part->rank < 0 && rank >= 0)
        part->rank = rank;
    return true;
}

/* Takes a rank from a thread name `MPI Rank N`. */
static bool take_named(struct database_read *read, const struct table_scan *scan)
{
    static const char named[] = "MPI Rank ";
    const unsigned char *text;
    size_t length;
    int64_t process, rank;
    if (scan_integer(scan, NVTX_TYPE) != NVTX_THREAD_NAME)
        return true;
    if (!nsys_process(read, scan, NVTX_THREAD, &process) || !nsys_text(read, scan, &text, &length))
        return false;
    struct nsys_part *part = part_of(read->state, process);
    if (part && part->rank < 0 && length >= sizeof named &&
        memcmp(text, named, sizeof named - 1) == 0 &&
        number_integer(text + sizeof named - 1, length - (sizeof named - 1), &rank) && rank >= 0)
        part->rank = rank;
    return true;
}

static bool all_ranked(const struct nsys *nsys)
{
    for (size_t i = 0; i < nsys->part_count; i++)
        if (nsys->parts[i].rank < 0)
            return false;
    return true;
}

/* Whether two parts have the same rank: then the ranks are ignored. */
static bool twice_ranked(const struct nsys *nsys)
{
    for (size_t i = 0; i < nsys->part_count; i++)
        for (size_t j = 0; j < i; j++)
            if (nsys->parts[i].rank == nsys->parts[j].rank)
                return true;
    return false;
}

/* Finds the ranks (N5). */
static bool find_ranks(struct database_read *read)
{
    static const char *const of_ranks[] = {"globalTid", "rank", NULL};
    static const char *const of_names[] = {"start",  "end",       "eventType", "text",
                                           "textId", "globalTid", NULL};
    /* rows that name threads, and rows whose type is text */
    static const char only_names[] = "(\"eventType\" = 39 OR \"eventType\" > 9223372036854775807)";
    struct nsys *nsys = read->state;
    if (!database_each(read, readonly_table(read->readonly, "MPI_RANKS"), of_ranks, NULL,
                       take_rank))
        return false;
    struct readonly_table *nvtx = read->tables[NSYS_NVTX].table;
    if (nvtx && !readonly_columns(read->readonly, nvtx, read->failure))
        return false;
    if (!all_ranked(nsys) && nvtx && readonly_column(nvtx, "eventType") &&
        !database_each(read, nvtx, of_names, only_names, take_named))
        return false;
    if (!all_ranked(nsys) || twice_ranked(nsys))
        for (size_t i = 0; i < nsys->part_count; i++)
            nsys->parts[i].rank = -1;
    return true;
}

static bool take_base(struct database_read *read, const struct table_scan *scan)
{
    struct nsys *nsys = read->state;
    if (nsys->base == NUMBER_NONE)
        nsys->base = scan_integer(scan, 0);
    return true;
}

static bool take_normalized(struct database_read *read, const struct table_scan *scan)
{
    struct nsys *nsys = read->state;
    size_t name_length, length;
    const unsigned char *name = scan_text(scan, 0, &name_length);
    const unsigned char *value = scan_text(scan, 1, &length);
    if (name && value && sqlite3_stricmp((const char *)name, "EXPORT_PARAM_TIME_NORMALIZE") == 0 &&
        sqlite3_stricmp((const char *)value, "true") == 0)
        nsys->base = NUMBER_NONE;
    return true;
}

bool nsys_look(struct database_read *read)
{
    static const char *const of_start[] = {"utcEpochNs", NULL};
    static const char *const of_export[] = {"name", "value", NULL};
    struct nsys *nsys = read->state;
    const struct readonly *readonly = read->readonly;
    struct readonly_table *start = readonly_table(readonly, "TARGET_INFO_SESSION_START_TIME");
    struct readonly_table *export = readonly_table(readonly, "META_DATA_EXPORT");
    nsys->base = NUMBER_NONE;
    if (!export)
        export = readonly_table(readonly, "EXPORT_META_DATA");
    nsys->based = database_each(read, start, of_start, NULL, take_base) &&
                  database_each(read, export, of_export, NULL, take_normalized);
    return nsys->based && find_parts(read) && find_ranks(read);
}
