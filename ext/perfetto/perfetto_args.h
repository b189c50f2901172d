/*
** Args of packet events: annotations of track events, extra data and launch facts of GPU stages,
** values of counters. They are read from the file again, starting at its beginning.
*/
#ifndef TRACEDIFF_PERFETTO_ARGS_H
#define TRACEDIFF_PERFETTO_ARGS_H

#include "file/row_source.h"
#include "text/scan.h"

/* See struct row_source. */
void *perfetto_args_begin(const struct trace_file *file, const struct stopper *stopper,
                          struct failure *failure);
bool perfetto_args_next(void *begun, int64_t event, struct token *args, struct failure *failure);
void perfetto_args_end(void *begun);

#endif
