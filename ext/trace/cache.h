/*
** Files that have been read already, kept for the next query.
**
** A file is known by path, device, inode, size, modification and change time,
** and by the phases that were asked for: a file that has changed is read again.
** Files nobody refers to are kept until they hold more than CACHE_LIMIT bytes
** together; then those unused for longest go. A cache belongs to one thread;
** only the reading itself is spread over several.
*/
#ifndef TRACEDIFF_CACHE_H
#define TRACEDIFF_CACHE_H

#include "file.h"

#define CACHE_LIMIT ((size_t)1 << 30)

struct cache {
    struct stopper stopper; /* asked on the calling thread only */
    int threads;            /* how many may read at once; 1: none but the caller's */
    /* private */
    struct cache_entry *entries;
    size_t count, capacity;
    uint32_t *slots;   /* by the path's hash: an entry + 1, and so on by its `next`; 0: no more */
    size_t slot_count; /* a power of two */
    uint64_t clock;
};

/* A file wanted, and what became of it. */
struct cache_request {
    const char *path;
    /* The earlier request for the same file (device and inode) under a path of the same
    ** base name: then this one is not read. NULL: there is none. */
    struct cache_request *twin;
    struct trace_file *file; /* one reference; NULL on failure */
    struct failure failure;
};

/* Fills in the requests: each file from the cache, or read, several at a time.
** `phases` as in file_load(). With `peek`, a file not loaded yet is only read up to
** its first event. False if interrupted or out of memory; why a file cannot be read is said
** in its request. */
bool cache_get(struct cache *cache, struct cache_request *requests, size_t count,
               const bool *phases, bool peek, struct failure *failure);

/* Drops what is beyond the limit. Unless `idle`, SQLite may still hold texts of
** files that are `lent`: these keep their names. */
void cache_trim(struct cache *cache, bool idle);

void cache_clear(struct cache *cache);

#endif
