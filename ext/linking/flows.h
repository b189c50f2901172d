/*
** Links device work to operators by flow events (T10.7).
*/
#ifndef TRACEDIFF_FLOWS_H
#define TRACEDIFF_FLOWS_H

#include "file/file.h"

/* one end of a flow: its beginning (s) or its end (f) */
struct flow {
    int64_t ts; /* ns as written in the file, before its base is added */
    uint32_t track;
    uint32_t id;    /* below the number of flows */
    uint32_t order; /* position in the file */
    uint32_t row;   /* private */
    bool end;
};

/* Links device events that have no link yet by the file's flows. Sorts `flows`. All other links
** must already be known. */
bool flows_follow(struct trace_file *file, struct flow *flows, size_t count,
                  const struct stopper *stopper, struct failure *failure);

#endif
