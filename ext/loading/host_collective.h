/*
** Names of collectives that run on the host (Q10.1).
*/
#ifndef TRACEDIFF_HOST_COLLECTIVE_H
#define TRACEDIFF_HOST_COLLECTIVE_H

#include "file/file.h"

enum host_collective {
    HOST_NONE,
    HOST_NAMED,    /* prefix of a library that runs on the host: `gloo:all_reduce` */
    HOST_LAUNCH,   /* prefix of a library that runs on the device: `nccl:all_reduce` */
    HOST_DESCRIBED /* record_param_comms: only its args name the collective */
};

/* Classifies the name of a host operator or annotation. */
enum host_collective host_collective_named(const struct name *name);

/* Classifies a row by its name and category. */
enum host_collective host_collective_row(const struct trace_file *file, size_t row);

/* Whether a collective's name is a send or a receive. */
bool host_collective_is_pair(const struct name *name);

/* Whether any name is HOST_NAMED. */
bool host_collective_any(const struct names *names);

#endif
