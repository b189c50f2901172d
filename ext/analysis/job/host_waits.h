/*
** Times at which a host thread may wait for a collective, in files without device work (Q10.3).
*/
#ifndef TRACEDIFF_HOST_WAITS_H
#define TRACEDIFF_HOST_WAITS_H

#include "analysis/names/labels.h"

struct host_waits {
    const struct trace_file *file;
    struct labels labels;
};

/* Labels the `wanted` threads (a flag by track). `steps` are the file's. */
bool host_waits_make(struct host_waits *waits, const struct trace_file *file,
                     const struct steps *steps, const bool *wanted, const struct stopper *stopper,
                     struct failure *failure);

/* Finds the first time in [*from, *to) in which a thread may wait. The range must not be empty. */
bool host_waits_find(struct host_waits *waits, uint32_t track, int64_t *from, int64_t *to);

void host_waits_clear(struct host_waits *waits);

#endif
