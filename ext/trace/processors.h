/*
** The number of processors this process may use.
*/
#ifndef TRACEDIFF_PROCESSORS_H
#define TRACEDIFF_PROCESSORS_H

/* At least 1: the number of processors that the calling thread may run on. taskset and the
** cpusets of containers reduce it; quotas of CPU time do not. Where it is not known, the number
** of processors online. */
int processor_count(void);

#endif
