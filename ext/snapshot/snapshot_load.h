/*
** Reads snapshots.
*/
#ifndef TRACEDIFF_SNAPSHOT_LOAD_H
#define TRACEDIFF_SNAPSHOT_LOAD_H

#include "snapshot.h"

/* Reads a snapshot; NULL on failure. The caller gets a reference. The stopper must outlive it. */
struct snapshot *snapshot_load(const char *path, const struct stopper *stopper,
                               struct failure *failure);

void snapshot_release(struct snapshot *snapshot);

/* The memory that the snapshot holds, in bytes. */
size_t snapshot_memory(const struct snapshot *snapshot);

#endif
