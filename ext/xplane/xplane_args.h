/*
** Reads the args of events in an XSpace from the file again: their stats.
*/
#ifndef TRACEDIFF_XPLANE_ARGS_H
#define TRACEDIFF_XPLANE_ARGS_H

#include "file/row_source.h"
#include "text/scan.h"

/* See struct row_source. */
void *xplane_args_begin(const struct trace_file *file, const struct stopper *stopper,
                        struct failure *failure);
bool xplane_args_next(void *begun, int64_t event, struct token *args, struct failure *failure);
void xplane_args_end(void *begun);

#endif
