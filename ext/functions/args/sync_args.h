/*
** The args of stream and call waits (P6.1). They are read once per file and kept by the file.
*/
#ifndef TRACEDIFF_SYNC_ARGS_H
#define TRACEDIFF_SYNC_ARGS_H

#include "analysis/path/path_graph.h"
#include "sqlite/table_function.h"

/* Returns the waits in the chosen files of a trace, by member. The files own their items, the
** caller frees the array. NULL on failure, with call->failure filled. */
struct path_syncs *sync_args_read(struct call *call, const struct trace *trace);

/* For callers that read other args of a file in the same pass: the keys to read. For each key, the
** rows that are not NAME_NONE are requested. */
enum { SYNC_KEYS = 2 };
struct sync_wish {
    const char *keys[SYNC_KEYS];
    uint32_t *values[SYNC_KEYS]; /* by row; NULL: nothing to read */
};

bool sync_wish_make(struct call *call, const struct trace_file *file, struct sync_wish *wish);

/* Keeps the args that the caller read, as ids in `names`, with the file. */
bool sync_wish_keep(struct call *call, struct trace_file *file, const struct sync_wish *wish,
                    const struct names *names);

void sync_wish_clear(struct sync_wish *wish);

#endif
