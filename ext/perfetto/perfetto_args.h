/*
** The args of events of packets: annotations of track events, extra data and the launch of stages
** of a GPU, values of counters. They are read from the file again, from its beginning on.
*/
#ifndef TRACEDIFF_PERFETTO_ARGS_H
#define TRACEDIFF_PERFETTO_ARGS_H

#include "file/row_source.h"
#include "text/scan.h"

/* As in struct row_source. */
void *perfetto_args_begin(const struct trace_file *file, const struct stopper *stopper,
                          struct failure *failure);
bool perfetto_args_next(void *begun, int64_t event, struct token *args, struct failure *failure);
void perfetto_args_end(void *begun);

#endif
