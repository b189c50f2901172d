/*
** Computes the allocations of a device, and its peak (M4 to M7).
*/
#ifndef TRACEDIFF_LIFETIMES_H
#define TRACEDIFF_LIFETIMES_H

#include "snapshot.h"

/* Fills in allocations, peak and problems of a device. Its events and segments must be known. */
bool lifetimes_find(struct snapshot *snapshot, struct memory_device *device,
                    const struct stopper *stopper, struct failure *failure);

#endif
