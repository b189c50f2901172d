/*
** Opens the files of traces.
*/
#ifndef TRACEDIFF_OPENING_H
#define TRACEDIFF_OPENING_H

#include "cache.h"
#include "trace.h"

/* Opens traces; the files of all of them are read side by side. A file whose head tells that its
** rank was not asked for is not read further. The traces are to be closed on failure, too. */
bool trace_open(struct trace *const *traces, const struct trace_request *requests, size_t count,
                struct cache *cache, struct failure *failure);

/* Makes a trace of the chosen files of a rank of another one, which is to stay open as long. It is
** to be closed on failure, too. */
bool trace_of_rank(struct trace *trace, const struct trace *from, int64_t rank,
                   struct failure *failure);

/* Does nothing to a zeroed struct. */
void trace_close(struct trace *trace);

#endif
