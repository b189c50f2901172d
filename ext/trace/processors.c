/* sched_getaffinity() is not POSIX. */
#define _GNU_SOURCE
#include "processors.h"

#include <sched.h>
#include <unistd.h>

int processor_count(void)
{
    cpu_set_t set;
    long count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set)
                                                             : sysconf(_SC_NPROCESSORS_ONLN);
    return count > 1 ? (int)count : 1;
}
