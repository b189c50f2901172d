/* sched_getaffinity() is not POSIX. */
#define _GNU_SOURCE
#include "database.h"

#include <sched.h>
#include <time.h>
#include <unistd.h>

#include "profilers/database_rows.h"
#include "base/memory.h"
#include "source/source.h"

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
    struct database *database = argument;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t nanoseconds = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    if (database->working == 0 || nanoseconds - database->polled < POLL_EVERY)
        return false;
    database->polled = nanoseconds;
    int code = SQLITE_OK;
    if (!database->poll)
        code = sqlite3_prepare_v2(database->db, poll_sql, -1, &database->poll, NULL);
    if (code == SQLITE_OK) {
        code = sqlite3_step(database->poll);
        sqlite3_reset(database->poll);
    }
    return code == SQLITE_INTERRUPT;
}

/* The number of processors that this thread may run on. taskset and the cpusets of containers
** reduce it; quotas of CPU time do not. Where it is not known, the number of processors online.
** One thread if the host has disabled SQLite's mutexes, because threads allocate from SQLite.
** Disabled, every static mutex is the same pointer. */
static int thread_count(void)
{
    cpu_set_t set;
    if (!sqlite3_threadsafe() || sqlite3_mutex_alloc(SQLITE_MUTEX_STATIC_APP1) ==
                                     sqlite3_mutex_alloc(SQLITE_MUTEX_STATIC_APP2))
        return 1;
    long count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set)
                                                             : sysconf(_SC_NPROCESSORS_ONLN);
    return count > 1 ? (int)count : 1;
}

struct database *database_new(sqlite3 *db, const struct function_list *functions)
{
    struct database *database = memory_zeroed(1, sizeof *database);
    if (!database)
        return NULL;
    (void)source_decoder(); /* reads the environment now, on the host's thread */
    database->db = db;
    database->functions = functions;
    database->references = 1;
    database->cache.threads = thread_count();
    database->cache.databases = &database_rows;
    database->cache.stopper = (struct stopper){.stop = interrupted, .argument = database};
    return database;
}

void database_release(struct database *database)
{
    if (--database->references > 0)
        return;
    cache_clear(&database->cache);
    snapshot_cache_clear(&database->snapshots);
    kernel_types_clear(&database->kernel_types);
    memory_free(database);
}

void database_begin_work(struct database *database)
{
    database->working++;
}

void database_end_work(struct database *database)
{
    if (--database->working > 0)
        return; /* called from a function written in SQL */
    sqlite3_finalize(database->poll);
    database->poll = NULL;
}

bool database_interrupted(struct database *database, struct failure *failure)
{
    database_begin_work(database);
    bool stop = interrupted(database);
    database_end_work(database);
    if (stop)
        failure_set(failure, FAILURE_INTERRUPTED, "interrupted");
    return stop;
}

void database_cursor_closed(struct database *database)
{
    if (--database->cursors > 0)
        return;
    cache_trim(&database->cache, true);
    snapshot_cache_trim(&database->snapshots, CACHE_LIMIT);
}
