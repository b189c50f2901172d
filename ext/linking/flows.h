/*
** Flow events that link device work to operators (T10.7).
*/
#ifndef TRACEDIFF_FLOWS_H
#define TRACEDIFF_FLOWS_H

#include "file/file.h"

/* The beginning (s) or the end (f) of a flow. */
struct flow {
    int64_t ts; /* ns, as in the document: without its base */
    uint32_t track;
    uint32_t id;    /* below the number of flows */
    uint32_t order; /* position in the file */
    uint32_t row;   /* private */
    bool end;
};

/* Links device events that have no link yet by the flows of a file, which it sorts. The other links
** must be known. */
bool flows_follow(struct trace_file *file, struct flow *flows, size_t count,
                  const struct stopper *stopper, struct failure *failure);

#endif
