/*
** What a collective does, and how many bytes of it a rank has: rules W5 and W6; and what the name
** of its kernel says of how it is done (W8).
*/
#ifndef TRACEDIFF_COLLECTIVE_WORK_H
#define TRACEDIFF_COLLECTIVE_WORK_H

#include "base/names.h"

enum collective {
    COLLECTIVE_NONE, /* not known */
    ALL_REDUCE,
    ALL_GATHER,
    REDUCE_SCATTER,
    ALL_TO_ALL,
    SEND_RECV, /* sends and receives of one kernel */
    BROADCAST,
    BARRIER,
    GATHER,
    SCATTER,
    REDUCE,
    SEND,
    RECV,
    COLLECTIVES
};

/* As columns have it; NULL: not known. */
const char *collective_name(enum collective collective);

/* By a `Collective name` of args. */
enum collective collective_of_args(const struct name *name);

/* By the name of a kernel. */
enum collective collective_of_kernel(const struct name *name);

/* Whether a kernel may do a collective, by what its name says. */
bool collective_may(enum collective kernel, enum collective collective);

/* W6: the bytes of a rank, of the numbers of elements that go in and come out; NUMBER_NONE: not
** known. */
int64_t collective_bytes(enum collective collective, int64_t in, int64_t out,
                         const struct name *dtype);

/* W8: the algorithm and the protocol in the name of a kernel; NULL: none. */
const char *collective_algorithm(const struct name *name);
const char *collective_protocol(const struct name *name);

#endif
