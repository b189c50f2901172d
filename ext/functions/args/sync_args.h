/*
** What args say of the waits of streams and calls (P6.1). It is read once of a file, which keeps
** it for later questions.
*/
#ifndef TRACEDIFF_SYNC_ARGS_H
#define TRACEDIFF_SYNC_ARGS_H

#include "analysis/path/path_graph.h"
#include "sqlite/table_function.h"

/* The waits of the chosen files of a trace, by member; their items are the files'. The caller frees
** the array. NULL on failure, with call->failure filled. */
struct path_syncs *sync_args_read(struct call *call, const struct trace *trace);

/* For who reads other args of a file: the keys to read with them. Of each key, the rows that are
** not NAME_NONE are wanted. */
enum { SYNC_KEYS = 2 };
struct sync_wish {
    const char *keys[SYNC_KEYS];
    uint32_t *values[SYNC_KEYS]; /* by row; NULL: nothing is to be read */
};

bool sync_wish_make(struct call *call, const struct trace_file *file, struct sync_wish *wish);

/* Keeps what was read, ids in `names`, with the file. */
bool sync_wish_keep(struct call *call, struct trace_file *file, const struct sync_wish *wish,
                    const struct names *names);

void sync_wish_clear(struct sync_wish *wish);

#endif
