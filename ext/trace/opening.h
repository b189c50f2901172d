/*
** Opens the files of traces.
*/
#ifndef TRACEDIFF_OPENING_H
#define TRACEDIFF_OPENING_H

#include "cache.h"
#include "trace.h"

/* Opens traces and reads all their files in parallel. If the head of a file shows a rank that was
** not requested, the rest is not read. The caller closes the traces on failure, too. */
bool trace_open(struct trace *const *traces, const struct trace_request *requests, size_t count,
                struct cache *cache, struct failure *failure);

/* Makes a trace from the chosen files of one rank of another trace, which must stay open meanwhile.
** The caller closes the new trace on failure, too. */
bool trace_of_rank(struct trace *trace, const struct trace *from, int64_t rank,
                   struct failure *failure);

/* Does nothing to a zeroed struct. */
void trace_close(struct trace *trace);

#endif
