#include "call_snapshot.h"

#include <string.h>

#include "chart/writer.h"
#include "base/memory.h"
#include "base/sort.h"
#include "platform/path.h"

static int file_order(const void *a, const void *b)
{
    const struct snapshot_file *x = a, *y = b;
    int order = COMPARE(x->rank, y->rank);
    return order ? order : strcmp(x->path, y->path);
}

/* T7: gives the lowest free numbers to files without a number in their names, in the order of their
** paths. */
static bool assign_ranks(struct call *call, struct call_snapshots *snapshots)
{
    int64_t *taken = memory_zeroed(snapshots->count, sizeof *taken), next = 0;
    size_t count = 0;
    if (!taken)
        return failure_memory(&call->failure);
    for (size_t i = 0; i < snapshots->count; i++) {
        snapshots->files[i].rank = path_rank(snapshots->files[i].path);
        if (snapshots->files[i].rank >= 0)
            taken[count++] = snapshots->files[i].rank;
    }
    count = sort_integers(taken, count);
    for (size_t i = 0; i < snapshots->count; i++) {
        if (snapshots->files[i].rank >= 0)
            continue;
        while (has_integer(taken, count, next))
            next++;
        snapshots->files[i].rank = next++;
    }
    memory_free(taken);
    return sort_items(snapshots->files, snapshots->count, sizeof *snapshots->files, file_order,
                      call_stopper(call), &call->failure);
}

/* Keeps the named files, and files of a directory that begin like a snapshot. */
static bool keep_files(struct call *call, struct call_snapshots *snapshots)
{
    const struct trace_paths *paths = &snapshots->paths;
    snapshots->files = memory_zeroed(paths->count, sizeof *snapshots->files);
    if (!snapshots->files)
        return failure_memory(&call->failure);
    for (size_t i = 0; i < paths->count; i++) {
        const struct trace_path *path = &paths->items[i];
        struct failure unread = {FAILURE_NONE, NULL, NULL, 0};
        if (!stopper_ask(call_stopper(call), &call->failure))
            return false;
        if (!path->listed || pickle_begins(path->path, &unread) || unread.code != FAILURE_NONE)
            snapshots->files[snapshots->count++] =
                (struct snapshot_file){.path = path->path, .listed = path->listed};
        failure_clear(&unread);
    }
    return true;
}

/* Lists the ranks at the requested place, according to their names (T7.7). */
static bool find_place(struct call *call, const char *subject, struct call_snapshots *snapshots)
{
    struct selection *ranks = &snapshots->ranks;
    struct coordinates *there = memory_items(snapshots->count, sizeof *there);
    ranks->values = memory_items(snapshots->count, sizeof *ranks->values);
    bool done = (there && ranks->values) || failure_memory(&call->failure);
    for (size_t i = 0; done && i < snapshots->count; i++)
        there[i] = coordinates_in(path_name(snapshots->files[i].path));
    done = done &&
           selection_check_place(ranks, there, snapshots->count, subject, &call->failure);
    for (size_t i = 0; done && i < snapshots->count; i++)
        if (selection_is_at(ranks, &there[i]))
            ranks->values[ranks->count++] = snapshots->files[i].rank;
    ranks->count = sort_integers(ranks->values, ranks->count);
    ranks->kind = SELECT_LIST;
    memory_free(there);
    return done;
}

/* Checks that the requested ranks exist. */
static bool check_ranks(struct call *call, int argument, struct call_snapshots *snapshots)
{
    int64_t *there = memory_zeroed(snapshots->count, sizeof *there);
    const char *text = (const char *)sqlite3_value_text(call->values[argument]);
    struct writer subject = {0};
    write_string(&subject, "'");
    write_string(&subject, text ? text : "");
    write_bytes(&subject, "'", 2);
    if (!there || subject.failed) {
        memory_free(there);
        writer_clear(&subject);
        return failure_memory(&call->failure);
    }
    for (size_t i = 0; i < snapshots->count; i++)
        there[i] = snapshots->files[i].rank;
    size_t count = drop_doubles(there, snapshots->count);
    bool done = snapshots->ranks.kind == SELECT_AT
                    ? find_place(call, subject.bytes, snapshots)
                    : selection_check(&snapshots->ranks, there, count, subject.bytes, "rank",
                                      &call->failure);
    memory_free(there);
    writer_clear(&subject);
    return done;
}

/* The rank with the highest peak; ties: the lowest rank. */
struct worst {
    int64_t rank, bytes; /* rank -1: none yet */
};

static bool find_worst(struct call *call, struct snapshot *snapshot, int64_t rank, void *to)
{
    struct worst *worst = to;
    int64_t bytes = 0;
    (void)call;
    for (size_t d = 0; d < snapshot->device_count; d++)
        if (snapshot->devices[d].number != MEMORY_OF_HOST &&
            snapshot->devices[d].peak_bytes > bytes)
            bytes = snapshot->devices[d].peak_bytes;
    if (worst->rank < 0 || bytes > worst->bytes)
        *worst = (struct worst){rank, bytes};
    return true;
}

static bool choose_worst(struct call *call, struct call_snapshots *snapshots)
{
    struct selection *ranks = &snapshots->ranks;
    struct worst worst = {-1, 0};
    if (!call_snapshots_each(call, snapshots, find_worst, &worst))
        return false;
    ranks->values = memory_allocate(sizeof *ranks->values);
    if (!ranks->values)
        return failure_memory(&call->failure);
    *ranks->values = worst.rank;
    ranks->count = 1;
    ranks->kind = SELECT_LIST;
    return true;
}

bool call_snapshots_find(struct call *call, int argument, int ranks,
                         struct call_snapshots *snapshots)
{
    *snapshots = (struct call_snapshots){.paths = {.snapshots = true}};
    snapshots->ranks.kind = ranks == 0 ? SELECT_ALL : SELECT_DEFAULT;
    return (ranks == 0 || argument_selection(call, ranks, &snapshots->ranks)) &&
           argument_trace(call, argument, &snapshots->paths) && keep_files(call, snapshots) &&
           assign_ranks(call, snapshots) && check_ranks(call, argument, snapshots) &&
           (snapshots->ranks.kind != SELECT_WORST || choose_worst(call, snapshots));
}

void call_snapshots_close(struct call_snapshots *snapshots)
{
    paths_clear(&snapshots->paths);
    memory_free(snapshots->files);
    selection_clear(&snapshots->ranks);
}

struct snapshot *call_snapshot_open(struct call *call, const struct snapshot_file *file)
{
    struct failure failure = {FAILURE_NONE, NULL, NULL, 0};
    struct snapshot *snapshot =
        snapshot_cache_get(&call->connection->snapshots, file->path, call_stopper(call), &failure);
    if (!snapshot && file->listed && failure.code == FAILURE_NOT_TRACE)
        failure_clear(&failure);
    else if (!snapshot)
        failure_move(&call->failure, &failure);
    return snapshot;
}

/* Reports why none of the files is a snapshot, using the first file. */
static bool refuse_files(struct call *call, const struct call_snapshots *snapshots,
                         const struct snapshot_file *first)
{
    const struct snapshot_file named = {.path = first ? first->path
                                                      : snapshots->paths.items[0].path};
    snapshot_release(call_snapshot_open(call, &named));
    struct failure *failure = &call->failure, own = *failure;
    if (own.code == FAILURE_MEMORY || own.code == FAILURE_INTERRUPTED)
        return false;
    *failure = (struct failure){FAILURE_NONE, NULL, NULL, 0};
    failure_set(failure, FAILURE_REQUEST, "none of the files is a snapshot; the first: %s",
                own.text ? own.text : "it has changed");
    failure_clear(&own);
    return false;
}

bool call_snapshots_each(struct call *call, const struct call_snapshots *snapshots,
                         take_snapshot *take, void *to)
{
    const struct selection *ranks = &snapshots->ranks;
    bool any = false, done = true;
    int64_t lowest = -1; /* rank of the last file that was tried */
    const struct snapshot_file *first = NULL;
    for (size_t i = 0; done && i < snapshots->count; i++) {
        const struct snapshot_file *file = &snapshots->files[i];
        if (ranks->kind == SELECT_LIST && !has_integer(ranks->values, ranks->count, file->rank))
            continue;
        if (ranks->kind == SELECT_DEFAULT && any && file->rank != lowest)
            break;
        lowest = file->rank;
        first = first ? first : file;
        struct snapshot *snapshot = call_snapshot_open(call, file);
        any = any || snapshot;
        done = snapshot ? take(call, snapshot, file->rank, to)
                        : call->failure.code == FAILURE_NONE;
        snapshot_release(snapshot);
    }
    return done && (any || refuse_files(call, snapshots, first));
}

int call_snapshot_rows(struct call *call, struct rows **rows, take_snapshot *add)
{
    struct call_snapshots snapshots;
    struct result *result = result_new(call->function->column_count);
    connection_begin_work(call->connection);
    if (result && call_snapshots_all(call, &snapshots))
        call_snapshots_each(call, &snapshots, add, result);
    connection_end_work(call->connection);
    if (result)
        call_snapshots_close(&snapshots);
    return result_finish(result, call_code(call), rows);
}
