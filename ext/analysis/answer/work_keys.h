/*
** The keys by which an answer sums up the work of two traces (keyed.h). There is one list, so that
** args are read once.
*/
#ifndef TRACEDIFF_WORK_KEYS_H
#define TRACEDIFF_WORK_KEYS_H

#include "analysis/sums/keyed.h"

/* Keys of device work; evidence uses the first ones. */
enum device_key {
    DEVICE_TOP_OP,
    DEVICE_OP,
    DEVICE_SHAPES,
    DEVICE_TYPES,
    DEVICE_KERNEL,
    DEVICE_KERNEL_TYPE,
    DEVICE_GRID,
    DEVICE_BLOCK,
    DEVICE_KEYS
};

/* The number of keys that distinguish rows of evidence. */
enum { DEVICE_EVIDENCE = DEVICE_KERNEL + 1 };

/* Keys of host events. */
enum host_key { HOST_NAME, HOST_CAT, HOST_SHAPES, HOST_TYPES, HOST_KEYS };

/* Returns the id of a value in `keyed->names`, or NAME_NONE. */
static inline uint32_t work_key(const struct keyed *keyed, size_t row, int key)
{
    return keyed->ids[row * keyed->width + (size_t)key];
}

#endif
