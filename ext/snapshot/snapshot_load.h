/*
** Reads snapshots.
*/
#ifndef TRACEDIFF_SNAPSHOT_LOAD_H
#define TRACEDIFF_SNAPSHOT_LOAD_H

#include "snapshot.h"

/* NULL on failure. The caller has the one reference. The stopper must outlive it. */
struct snapshot *snapshot_load(const char *path, const struct stopper *stopper,
                               struct failure *failure);

void snapshot_release(struct snapshot *snapshot);

/* Bytes that it holds. */
size_t snapshot_memory(const struct snapshot *snapshot);

#endif
