/*
** Files that have been read, kept for later queries.
**
** A file is identified by its path, device, inode, size, modification time, change time, the part
** of a database, and the phases that were asked for. A file that has changed is read again. Files
** without users are kept until together they hold more than CACHE_LIMIT bytes; then the least
** recently used are dropped. A cache belongs to one thread; only the reading is spread over
** several.
*/
#ifndef TRACEDIFF_CACHE_H
#define TRACEDIFF_CACHE_H

#include <stdatomic.h>

#include "file/file.h"

#define CACHE_LIMIT ((size_t)1 << 30)

struct cache {
    struct stopper stopper; /* called on the calling thread only */
    int threads;            /* maximum number of reading threads; 1: only the caller's */
    const struct row_source *const *sources; /* as in struct load_options */
    /* private */
    struct cache_entry *entries;
    size_t count, capacity;
    struct table table; /* finds entries by path; empty after one was removed */
    uint64_t clock;
};

/* A request for a file, and its result. */
struct cache_request {
    const char *path;
    const struct identity *identity; /* of the file; NULL: to be looked up */
    const bool *phases; /* as in struct load_options, like the next three */
    size_t part;
    bool look;
    const struct trace_file *head;
    int trace; /* number of the trace that the file belongs to */
    /* An earlier request of the same trace for the same file (device and inode) under a path with
    ** the same base name. This request is then not read. NULL: there is none. */
    struct cache_request *twin;
    /* private: it is read together with the request before; */
    bool follows;
    /* a request of another trace that this one shares the file with; NULL: none */
    struct cache_request *shared;
    int64_t size;            /* bytes of the file on disk, if it has to be read */
    _Atomic int64_t read;    /* bytes of them that were read so far */
    struct trace_file *file; /* one reference; NULL on failure */
    struct failure failure;
};

/* Fills in the requests. Each file comes from the cache or is read, several at a time, the largest
** first. With `peek`, a file that is not loaded yet is read by file_peek(). False if
** interrupted or out of memory; a file that cannot be read has its failure in its request. */
bool cache_get(struct cache *cache, struct cache_request *requests, size_t count, bool peek,
               struct failure *failure);

/* Drops files beyond the limit. Unless `idle`, SQLite may still hold texts of files that are
** `lent`, so these keep their names. */
void cache_trim(struct cache *cache, bool idle);

void cache_clear(struct cache *cache);

#endif
