/*
** The keys by which an answer sums up the work of two traces (keyed.h): one list, so that args are
** read once.
*/
#ifndef TRACEDIFF_WORK_KEYS_H
#define TRACEDIFF_WORK_KEYS_H

#include "analysis/sums/keyed.h"

/* Of device work; the keys of evidence first. */
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

/* How many keys tell rows of evidence apart. */
enum { DEVICE_EVIDENCE = DEVICE_KERNEL + 1 };

/* Of host events. */
enum host_key { HOST_NAME, HOST_CAT, HOST_SHAPES, HOST_TYPES, HOST_KEYS };

/* The id of a value in `keyed->names`; NAME_NONE. */
static inline uint32_t work_key(const struct keyed *keyed, size_t row, int key)
{
    return keyed->ids[row * keyed->width + (size_t)key];
}

#endif
