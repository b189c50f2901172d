/*
** Finds the innermost external annotation of a device at any time (M9).
**
** 1. An END closes the latest open START of its name and device. An END without one closes an
**    annotation that began before the file. An annotation without END lasts until the end.
** 2. An annotation includes both its start and its end time. The innermost annotation is the one
**    with the latest start; ties: later in the file.
*/
#ifndef TRACEDIFF_ANNOTATED_H
#define TRACEDIFF_ANNOTATED_H

#include "snapshot.h"

/* Fills in the changes of a device. */
bool annotated_find(struct snapshot *snapshot, struct memory_device *device,
                    const struct stopper *stopper, struct failure *failure);

/* The text id of the innermost annotation at the start of an allocation, or NAME_NONE. */
uint32_t allocation_annotation(const struct snapshot *snapshot, const struct memory_device *device,
                               const struct memory_allocation *allocation);

#endif
