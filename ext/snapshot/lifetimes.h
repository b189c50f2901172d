/*
** The allocations of a device, and its peak: M4 to M7.
*/
#ifndef TRACEDIFF_LIFETIMES_H
#define TRACEDIFF_LIFETIMES_H

#include "snapshot.h"

/* Fills the allocations, the peak and the problems of a device that has its events and segments. */
bool lifetimes_find(struct snapshot *snapshot, struct memory_device *device,
                    const struct stopper *stopper, struct failure *failure);

#endif
