/*
** What the name of a collective, or of its kernel, says: what it does (W5) and how (W8).
*/
#ifndef TRACEDIFF_COLLECTIVE_NAME_H
#define TRACEDIFF_COLLECTIVE_NAME_H

#include <stdbool.h>

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

/* Q3.3: whether a name has AllReduce, AllGather, ReduceScatter or AllToAll: all wait for all. */
bool collective_is_by_all(const struct name *name);

/* By a `Collective name` of args. */
enum collective collective_of_args(const struct name *name);

/* By the name of a kernel. */
enum collective collective_of_kernel(const struct name *name);

/* Whether a kernel may do a collective, by what its name says. */
bool collective_may(enum collective kernel, enum collective collective);

/* W8: the algorithm and the protocol in the name of a kernel; NULL: none. */
const char *collective_algorithm(const struct name *name);
const char *collective_protocol(const struct name *name);

/* L12.4: writes what a kernel does, and for what type, as all versions and algorithms of NCCL are
** to have it: `all_reduce_sum_bf16`. Returns its length; 0: it is no such kernel. `text` has room
** for COLLECTIVE_ROOM bytes. */
enum { COLLECTIVE_ROOM = 64 };
size_t collective_write(const struct name *kernel, char *text);

#endif
