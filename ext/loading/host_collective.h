/*
** Names of collectives that run on the host (Q10.1).
*/
#ifndef TRACEDIFF_HOST_COLLECTIVE_H
#define TRACEDIFF_HOST_COLLECTIVE_H

#include "file/file.h"

enum host_collective {
    HOST_NONE,
    HOST_NAMED,    /* named for a library that runs on the host: `gloo:all_reduce` */
    HOST_LAUNCH,   /* named for one that runs on the device: `nccl:all_reduce` */
    HOST_DESCRIBED /* record_param_comms: only its args say what it is */
};

/* What a name says, of an event that is an operator or an annotation of the host. */
enum host_collective host_collective_named(const struct name *name);

/* The same of a row. */
enum host_collective host_collective_row(const struct trace_file *file, size_t row);

/* Whether a name of a collective is that of a send or a receive. */
bool host_collective_is_pair(const struct name *name);

/* Whether any name is HOST_NAMED. */
bool host_collective_any(const struct names *names);

#endif
