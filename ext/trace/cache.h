/*
** Keeps files in memory for later queries.
**
** The key of a file is its path, device, inode, size, modification time, change time, part of a
** database, and requested phases. A changed file is read again. Unused files are kept up to
** CACHE_LIMIT bytes in total; beyond that, the least recently used are dropped. A cache belongs to
** one thread; only the reading uses several.
*/
#ifndef TRACEDIFF_CACHE_H
#define TRACEDIFF_CACHE_H

#include <stdatomic.h>

#include "file/file.h"

#define CACHE_LIMIT ((size_t)1 << 30)

struct cache {
    struct stopper stopper; /* called only on the calling thread */
    int threads;            /* maximum number of reading threads; 1: only the caller's */
    const struct row_source *const *sources; /* see struct load_options */
    /* private */
    struct cache_entry *entries;
    size_t count, capacity;
    struct table table; /* finds entries by path; cleared when an entry is removed */
    uint64_t clock;
};

/* A request for a file, and its result. */
struct cache_request {
    const char *path;
    const struct identity *identity; /* of the file; NULL: not looked up yet */
    const bool *phases; /* like the next three: see struct load_options */
    size_t part;
    bool look;
    const struct trace_file *head;
    int trace; /* number of the file's trace */
    /* An earlier request of the same trace for the same file (device and inode) under a path with
    ** the same base name. Only the earlier one is read. NULL: none. */
    struct cache_request *twin;
    /* private: it is read together with the request before it; */
    bool follows;
    /* a request of another trace for the same file; NULL: none */
    struct cache_request *shared;
    int64_t size;            /* bytes of the file on disk, if it must be read */
    _Atomic int64_t read;    /* number of these read so far */
    struct trace_file *file; /* one reference; NULL on failure */
    struct failure failure;
};

/* Fills in the requests from the cache or from disk. Files are read in parallel, largest first.
** With `peek`, file_peek() reads the files that are not loaded yet. False if interrupted or out of
** memory; a failure to read a file is in its request. */
bool cache_get(struct cache *cache, struct cache_request *requests, size_t count, bool peek,
               struct failure *failure);

/* Drops files beyond the limit. Unless `idle`, SQLite may still use texts of files that are `lent`,
** so these keep their names. */
void cache_trim(struct cache *cache, bool idle);

void cache_clear(struct cache *cache);

#endif
