#include "cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/sort.h"
#include "file/row_source.h"
#include "loading/load.h"
#include "platform/path.h"
#include "platform/thread.h"
#include "progress.h"
#include "reader/memo.h"

enum {
    MOST_THREADS = 64,
    MOST_PARTS = 64 /* parts of a database read together */
};

struct cache_entry {
    struct trace_file *file; /* one reference */
    uint64_t used;           /* value of the clock at the last use */
    uint64_t hash;           /* of the path */
    bool stale;              /* a newer version of the file is cached */
};

/* Files to be read by several threads. */
struct read_queue {
    struct cache_request **requests;
    size_t count;
    bool peek;
    const struct row_source *const *sources;
    size_t together; /* number of requests at the end for one database, minus 1 */
    atomic_int idle; /* processors without a thread */
    atomic_size_t next;
    atomic_bool stop;
    struct mutex mutex;
    struct condition finished; /* signalled when a thread ends */
    int running;               /* guarded by the mutex */
};

static bool asked_to_stop(void *argument)
{
    return atomic_load_explicit((atomic_bool *)argument, memory_order_relaxed);
}

/* Reads the file of a request, together with the following requests for its parts. */
static void read_one(struct read_queue *queue, size_t i, struct stopper stopper, struct memo **kept)
{
    struct cache_request *request = queue->requests[i];
    size_t count = 1, parts[MOST_PARTS];
    struct trace_file *files[MOST_PARTS] = {NULL};
    if (request->follows)
        return;
    while (i + count < queue->count && queue->requests[i + count]->follows)
        count++;
    for (size_t part = 0; part < count; part++)
        parts[part] = queue->requests[i + part]->part;
    stopper.read = &request->read;
    const struct load_options options = {.phases = request->phases,
                                         .sources = queue->sources,
                                         .parts = parts,
                                         .part_count = count,
                                         .look = request->look,
                                         .head = request->head,
                                         .idle = &queue->idle,
                                         .kept = kept};
    if (queue->peek)
        files[0] = file_peek(request->path, &options, &stopper, &request->failure);
    else
        parts_load(request->path, &options, files, &stopper, &request->failure);
    for (size_t part = 0; part < count; part++) {
        struct cache_request *of_part = queue->requests[i + part];
        of_part->file = files[part];
        if (part > 0 && !files[part])
            failure_copy(&of_part->failure, &request->failure);
        atomic_store_explicit(&of_part->read, of_part->size, memory_order_relaxed);
    }
}

static void read_files(void *argument)
{
    struct read_queue *queue = argument;
    struct stopper stopper = {.stop = asked_to_stop, .argument = &queue->stop};
    struct memo *kept = NULL;
    size_t i;
    while ((i = atomic_fetch_add(&queue->next, 1)) < queue->count)
        read_one(queue, i, stopper, &kept);
    memo_free(kept);
    atomic_fetch_add(&queue->idle, 1);
    mutex_lock(&queue->mutex);
    queue->running--;
    condition_signal(&queue->finished);
    mutex_unlock(&queue->mutex);
}

/* Starts up to `wanted` threads and returns the number started. */
static int start_threads(struct read_queue *queue, struct thread *threads, int wanted)
{
    int started = 0;
    queue->running = wanted;
    while (started < wanted && thread_start(&threads[started], read_files, queue))
        started++;
    return started;
}

/* Waits for the threads and calls the stopper regularly. */
static void wait_for_threads(struct read_queue *queue, const struct stopper *stopper)
{
    mutex_lock(&queue->mutex);
    while (queue->running > 0) {
        if (condition_wait_shortly(&queue->finished, &queue->mutex))
            continue;
        mutex_unlock(&queue->mutex);
        if (stopper->stop && stopper->stop(stopper->argument))
            atomic_store(&queue->stop, true);
        mutex_lock(&queue->mutex);
    }
    mutex_unlock(&queue->mutex);
}

/* Reads files on several threads; false if no thread could be started. */
static bool read_side_by_side(const struct cache *cache, struct read_queue *queue,
                              const struct stopper *stopper)
{
    struct thread threads[MOST_THREADS];
    int wanted = cache->threads < MOST_THREADS ? cache->threads : MOST_THREADS;
    if ((size_t)wanted > queue->count)
        wanted = (int)queue->count;
    if (wanted < 2)
        return false;
    mutex_init(&queue->mutex);
    condition_init(&queue->finished);
    atomic_store(&queue->idle, cache->threads - wanted);
    int started = start_threads(queue, threads, wanted);
    atomic_fetch_add(&queue->idle, wanted - started);
    mutex_lock(&queue->mutex);
    queue->running -= wanted - started;
    mutex_unlock(&queue->mutex);
    wait_for_threads(queue, stopper);
    for (int i = 0; i < started; i++)
        thread_join(&threads[i]);
    condition_destroy(&queue->finished);
    mutex_destroy(&queue->mutex);
    return started > 0;
}

static bool same_file(const struct trace_file *file, const char *path,
                      const struct identity *identity)
{
    return source_same(&file->identity, identity) && strcmp(file->path, path) == 0;
}

static uint64_t hash_of(const char *path)
{
    uint64_t hash = hash_key();
    while (*path)
        hash = hash_with(hash, (unsigned char)*path++);
    return hash;
}

static uint64_t hash_of_entry(const void *cache, uint32_t i)
{
    return ((const struct cache *)cache)->entries[i].hash;
}

/* A file to look up, or one just read. */
struct wanted_file {
    const struct cache *cache;
    const struct cache_request *request;
    const struct identity *identity;
    bool peek, loaded; /* loaded: more than the head */
};

/* Whether an entry satisfies a request. For a head, any loaded file will do, regardless of its
** phases and part. A look at a database, or at a document with labels, gives everything known
** before the rows; the head of any other file may lack facts from its end. */
static bool serves(const void *wanted, uint32_t i)
{
    const struct wanted_file *of = wanted;
    const struct cache_entry *entry = &of->cache->entries[i];
    return !entry->stale && entry->file->loaded == of->loaded &&
           same_file(entry->file, of->request->path, of->identity) &&
           (of->peek || (of->request->look && (entry->file->source || entry->file->labels)) ||
            (of->loaded && entry->file->part == of->request->part &&
             file_has_phases(entry->file, of->request->phases)));
}

/* A file just read. */
struct read_file {
    const struct cache *cache;
    const struct trace_file *file;
};

/* Whether it replaces an entry. */
static bool is_replaced(const void *read, uint32_t i)
{
    const struct trace_file *file = ((const struct read_file *)read)->file;
    const struct cache_entry *entry = &((const struct read_file *)read)->cache->entries[i];
    return !entry->stale && strcmp(entry->file->path, file->path) == 0 &&
           (!entry->file->loaded || !source_same(&entry->file->identity, &file->identity));
}

/* Finds a cached file, without adding a reference; NULL if it is not cached. */
static struct trace_file *look_up(struct cache *cache, const struct cache_request *request,
                                  const struct identity *identity, bool peek)
{
    struct wanted_file wanted = {cache, request, identity, peek, true};
    uint64_t hash = hash_of(request->path);
    if (!table_reserve(&cache->table, cache->count, hash_of_entry, cache))
        return NULL; /* reading the file again needs memory, too */
    uint32_t i = table_find(&cache->table, hash, serves, &wanted);
    wanted.loaded = false;
    if (i == UINT32_MAX && (peek || request->look))
        i = table_find(&cache->table, hash, serves, &wanted);
    if (i == UINT32_MAX)
        return NULL;
    cache->entries[i].used = ++cache->clock;
    return cache->entries[i].file;
}

/* Adds a file to the cache and marks the replaced entries as stale. */
static bool keep(struct cache *cache, struct trace_file *file)
{
    const struct read_file read = {cache, file};
    uint64_t hash = hash_of(file->path);
    uint32_t *slot;
    if (!MEMORY_GROW(cache->entries, cache->capacity, cache->count + 1) ||
        !table_reserve(&cache->table, cache->count, hash_of_entry, cache))
        return false;
    while (*(slot = table_slot(&cache->table, hash, is_replaced, &read)))
        cache->entries[*slot - 1].stale = true;
    file->references++;
    cache->entries[cache->count++] =
        (struct cache_entry){.file = file, .used = ++cache->clock, .hash = hash};
    *slot = (uint32_t)cache->count;
    return true;
}

/* Moves the last entry into the place of the removed one. */
static void remove_entry(struct cache *cache, size_t i)
{
    file_release(cache->entries[i].file);
    cache->entries[i] = cache->entries[--cache->count];
    table_clear(&cache->table);
}

/* A request and the identity of its file. */
struct identified {
    struct cache_request *request;
    struct identity identity;
};

/* By trace, file (inode, device), part, then base name: twins are equal. */
static int identified_order(const void *a, const void *b)
{
    const struct identified *x = a, *y = b;
    int order = COMPARE(x->request->trace, y->request->trace);
    order = order ? order : COMPARE(x->identity.inode, y->identity.inode);
    order = order ? order : COMPARE(x->identity.device, y->identity.device);
    order = order ? order : COMPARE(x->request->part, y->request->part);
    return order ? order : strcmp(path_name(x->request->path), path_name(y->request->path));
}

/* Finds the identities of the files. A file without an identity gets a failure. Twins are marked
** and left out of `items`. Returns the number of items; 0 on failure. */
static size_t identify(struct cache_request *requests, size_t count, struct identified *items,
                       const struct stopper *stopper, struct failure *failure)
{
    size_t found = 0, kept = 0;
    for (size_t i = 0; i < count; i++) {
        struct identified *item = &items[found];
        item->request = &requests[i];
        requests[i].file = NULL;
        requests[i].twin = requests[i].shared = NULL;
        if (requests[i].identity)
            item->identity = *requests[i].identity;
        if (requests[i].identity ||
            source_identify(requests[i].path, &item->identity, &requests[i].failure))
            found++;
        else if (requests[i].failure.code == FAILURE_MEMORY)
            failure_memory(failure);
    }
    if (!sort_items(items, found, sizeof *items, identified_order, stopper, failure))
        return 0;
    for (size_t i = 0; i < found; i++) {
        if (kept > 0 && identified_order(&items[kept - 1], &items[i]) == 0)
            items[i].request->twin = items[kept - 1].request;
        else
            items[kept++] = items[i];
    }
    return kept;
}

/* By size, largest first, so that the threads finish at about the same time; then path, part, and
** position of the request. */
static int size_order(const void *a, const void *b)
{
    const struct identified *x = a, *y = b;
    int order = COMPARE(y->identity.size, x->identity.size);
    order = order ? order : strcmp(x->request->path, y->request->path);
    order = order ? order : COMPARE(x->request->part, y->request->part);
    return order ? order : COMPARE(x->request, y->request);
}

/* Adds a request to the queue. Parts of one database are read together. */
static void add_request(struct read_queue *queue, struct cache_request *request,
                        const struct cache_request *last)
{
    bool same = last && request->head && request->head->source && last->head == request->head &&
                last->phases == request->phases;
    queue->together = same ? queue->together + 1 : 0;
    request->follows = queue->together % MOST_PARTS != 0;
    queue->requests[queue->count++] = request;
}

/* Whether a cached file still has all its companion files (G2). */
static bool is_complete(const struct trace_file *file, const char *path, struct failure *failure)
{
    return !file->source || !file->source->complete || file->outcome == DOCUMENT_NOT_TRACE ||
           file->source->complete(path, failure);
}

/* Takes files from the cache and adds the other requests to the queue, each path once. */
static void serve(struct cache *cache, struct cache_request *requests, size_t count,
                  struct read_queue *queue, struct failure *failure)
{
    struct identified *items = memory_zeroed(count, sizeof *items);
    if (!items)
        failure_memory(failure);
    size_t found = items ? identify(requests, count, items, &cache->stopper, failure) : 0;
    if (found > 0)
        qsort(items, found, sizeof *items, size_order);
    for (size_t i = 0; i < found; i++) {
        struct cache_request *request = items[i].request,
                             *last = queue->count ? queue->requests[queue->count - 1] : NULL;
        request->file = look_up(cache, request, &items[i].identity, queue->peek);
        request->size = items[i].identity.size;
        if (request->file && !is_complete(request->file, request->path, &request->failure))
            request->file = NULL;
        else if (request->file)
            request->file->references++;
        else if (last && strcmp(last->path, request->path) == 0 && last->part == request->part &&
                 last->phases == request->phases)
            request->shared = last;
        else
            add_request(queue, request, last);
        if (request->failure.code == FAILURE_MEMORY)
            failure_memory(failure);
    }
    memory_free(items);
}

/* Copies the result of another request for the same file. */
static void share(struct cache_request *request)
{
    const struct cache_request *from = request->shared;
    request->file = from->file;
    if (request->file)
        request->file->references++;
    else
        failure_copy(&request->failure, &from->failure);
}

bool cache_get(struct cache *cache, struct cache_request *requests, size_t count, bool peek,
               struct failure *failure)
{
    struct cache_request **missing = memory_zeroed(count, sizeof *missing);
    struct read_queue queue = {.requests = missing, .peek = peek, .sources = cache->sources};
    if (!missing)
        return failure_memory(failure);
    serve(cache, requests, count, &queue, failure);
    struct progress progress;
    struct stopper stopper = {.stop = progress_stop, .argument = &progress};
    progress_begin(&progress, missing, queue.count, &cache->stopper);
    if (!read_side_by_side(cache, &queue, &stopper)) {
        struct memo *kept = NULL;
        atomic_store(&queue.idle, cache->threads - 1);
        for (size_t i = 0; i < queue.count; i++) {
            read_one(&queue, i, stopper, &kept);
            if (missing[i]->failure.code == FAILURE_INTERRUPTED)
                break;
        }
        memo_free(kept);
    }
    progress_end(&progress);
    for (size_t i = 0; i < queue.count; i++) {
        enum failure_code code = missing[i]->failure.code;
        if (missing[i]->file && !keep(cache, missing[i]->file)) {
            file_release(missing[i]->file);
            missing[i]->file = NULL;
            failure_memory(failure);
        } else if (code == FAILURE_MEMORY || code == FAILURE_INTERRUPTED) {
            failure_move(failure, &missing[i]->failure);
        }
    }
    memory_free(missing);
    for (size_t i = 0; i < count && failure->code == FAILURE_NONE; i++)
        if (requests[i].shared)
            share(&requests[i]);
    return failure->code == FAILURE_NONE;
}

/* Whether an entry may be dropped: nothing else refers to its file. Unless `idle`, its texts must
** not be the last of it that SQLite may still use. */
static bool may_go(const struct cache_entry *entry, bool idle)
{
    return entry->file->references == 1 && (idle || !entry->file->lent || entry->file->loaded);
}

/* Drops an entry, or shrinks its file if SQLite may hold texts from it. Returns whether another
** entry moved to index `i`. */
static bool drop(struct cache *cache, size_t i, bool idle)
{
    struct cache_entry *entry = &cache->entries[i];
    if (!idle && entry->file->lent) {
        file_shrink(entry->file);
        entry->stale = true;
        return false;
    }
    remove_entry(cache, i);
    return true;
}

/* The entry to drop next, or cache->count if the cache is within its limit. */
static size_t next_to_go(const struct cache *cache, bool idle)
{
    size_t bytes = 0, oldest = cache->count;
    for (size_t i = 0; i < cache->count; i++) {
        const struct cache_entry *entry = &cache->entries[i];
        if (!may_go(entry, idle))
            continue;
        bytes += file_memory(entry->file);
        if (oldest == cache->count || entry->used < cache->entries[oldest].used)
            oldest = i;
    }
    return bytes > CACHE_LIMIT ? oldest : cache->count;
}

void cache_trim(struct cache *cache, bool idle)
{
    size_t i = 0;
    while (i < cache->count)
        if (!cache->entries[i].stale || !may_go(&cache->entries[i], idle) || !drop(cache, i, idle))
            i++;
    while ((i = next_to_go(cache, idle)) < cache->count)
        drop(cache, i, idle);
    for (i = 0; idle && i < cache->count; i++)
        cache->entries[i].file->lent = false;
}

void cache_clear(struct cache *cache)
{
    for (size_t i = 0; i < cache->count; i++)
        file_release(cache->entries[i].file);
    memory_free(cache->entries);
    table_clear(&cache->table);
    cache->entries = NULL;
    cache->count = cache->capacity = 0;
}
