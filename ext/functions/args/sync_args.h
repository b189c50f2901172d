/*
** What args say of the waits of streams and calls (P6.1).
*/
#ifndef TRACEDIFF_SYNC_ARGS_H
#define TRACEDIFF_SYNC_ARGS_H

#include "analysis/path/path_graph.h"
#include "sqlite/table_function.h"

/* Reads the waits of the chosen files of a trace, by member. NULL on failure, with call->failure
** filled. */
struct path_syncs *sync_args_read(struct call *call, const struct trace *trace);

/* NULL is allowed. */
void sync_args_free(struct path_syncs *syncs, const struct trace *trace);

#endif
