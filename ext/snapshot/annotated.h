/*
** The innermost external annotation of a device at a time (M9).
**
** 1. An END closes the last START of its name and device that is open; without one, it closes an
**    annotation that began before the file. An annotation without END lasts until the end.
** 2. The annotation holds at both of its times. Of those that hold, the one that began last is the
**    innermost; ties: later in the file.
*/
#ifndef TRACEDIFF_ANNOTATED_H
#define TRACEDIFF_ANNOTATED_H

#include "snapshot.h"

/* Fills the changes of a device. */
bool annotated_find(struct snapshot *snapshot, struct memory_device *device,
                    const struct stopper *stopper, struct failure *failure);

/* The id of the text of the innermost annotation when an allocation began, or NAME_NONE. */
uint32_t allocation_annotation(const struct snapshot *snapshot, const struct memory_device *device,
                               const struct memory_allocation *allocation);

#endif
