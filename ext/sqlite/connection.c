#include "connection.h"

#include <string.h>

#include "base/memory.h"
#include "base/precision.h"
#include "perfetto/perfetto_rows.h"
#include "platform/thread.h"
#include "profilers/database_rows.h"
#include "rocprof/rocprof_json.h"
#include "source/source.h"
#include "xplane/xplane_rows.h"

/* S19: SQLite has no call that covers both sqlite3_interrupt() and progress handlers. So a short
** statement runs on the calling thread, at most every POLL_EVERY ns; it fails if either asks to
** stop. SQLite calls a progress handler every N steps of a statement, so this one takes a step
** for each of its 100 columns, the most that some hosts allow. */
#define TEN(columns)                                                                            \
    columns "," columns "," columns "," columns "," columns "," columns "," columns "," columns \
            "," columns "," columns
static const char poll_sql[] = "SELECT " TEN(TEN("0"));
enum { POLL_EVERY = 1000 * 1000 /* ns */ };

static bool interrupted(void *argument)
{
    struct connection *connection = argument;
    int64_t now = clock_now();
    if (connection->working == 0 || now - connection->polled < POLL_EVERY)
        return false;
    connection->polled = now;
    int code = SQLITE_OK;
    if (!connection->poll)
        code = sqlite3_prepare_v2(connection->db, poll_sql, -1, &connection->poll, NULL);
    if (code == SQLITE_OK) {
        code = sqlite3_step(connection->poll);
        sqlite3_reset(connection->poll);
    }
    return code == SQLITE_INTERRUPT;
}

/* A thread for each processor. One if the host has disabled SQLite's mutexes, because threads
** allocate from SQLite. Disabled, every static mutex is the same pointer. */
static int thread_count(void)
{
    if (!sqlite3_threadsafe() || sqlite3_mutex_alloc(SQLITE_MUTEX_STATIC_APP1) ==
                                     sqlite3_mutex_alloc(SQLITE_MUTEX_STATIC_APP2))
        return 1;
    return processors_available();
}

struct connection *connection_new(sqlite3 *db, const struct function_list *functions)
{
    struct connection *connection = memory_zeroed(1, sizeof *connection);
    if (!connection)
        return NULL;
    (void)source_decoder(); /* reads the environment now, on the host's thread */
    connection->db = db;
    connection->functions = functions;
    connection->references = 1;
    connection->cache.threads = thread_count();
    static const struct row_source *const sources[] = {&database_rows, &rocprof_json, &xplane_rows,
                                                       &perfetto_rows, NULL};
    connection->cache.sources = sources;
    connection->cache.stopper = (struct stopper){.stop = interrupted, .argument = connection};
    return connection;
}

void connection_release(struct connection *connection)
{
    if (--connection->references > 0)
        return;
    cache_clear(&connection->cache);
    snapshot_cache_clear(&connection->snapshots);
    kernel_types_clear(&connection->kernel_types);
    memory_free(connection);
}

static void forget_listed(struct listed_paths *listed)
{
    paths_clear(&listed->paths);
    memory_free(listed->text);
    listed->text = NULL;
}

bool connection_listed(const struct connection *connection, const char *text,
                       struct trace_paths *paths)
{
    for (int i = 0; i < LISTED; i++)
        if (connection->listed[i].text && strcmp(connection->listed[i].text, text) == 0)
            return paths_copy(paths, &connection->listed[i].paths);
    return false;
}

void connection_list(struct connection *connection, const char *text,
                     const struct trace_paths *paths)
{
    struct listed_paths *listed = &connection->listed[connection->next_listed];
    connection->next_listed = (connection->next_listed + 1) % LISTED;
    forget_listed(listed);
    if (paths_copy(&listed->paths, paths))
        listed->text = path_joined(text, "", "");
}

void connection_begin_work(struct connection *connection)
{
    if (connection->working++ == 0)
        connection->precision = precision_widen();
}

void connection_end_work(struct connection *connection)
{
    if (--connection->working > 0)
        return; /* called from a function written in SQL */
    precision_restore(connection->precision);
    sqlite3_finalize(connection->poll);
    connection->poll = NULL;
    for (int i = 0; i < LISTED; i++)
        forget_listed(&connection->listed[i]);
}

bool connection_interrupted(struct connection *connection, struct failure *failure)
{
    connection_begin_work(connection);
    bool stop = interrupted(connection);
    connection_end_work(connection);
    if (stop)
        failure_set(failure, FAILURE_INTERRUPTED, "interrupted");
    return stop;
}

void connection_cursor_closed(struct connection *connection)
{
    if (--connection->cursors > 0)
        return;
    cache_trim(&connection->cache, true);
    snapshot_cache_trim(&connection->snapshots, CACHE_LIMIT);
}
