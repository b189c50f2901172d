/*
** How many processors there are for this process.
*/
#ifndef TRACEDIFF_PROCESSORS_H
#define TRACEDIFF_PROCESSORS_H

/* At least 1: the processors that the calling thread may run on (taskset and cpusets of
** containers narrow them, quotas of CPU time do not), or those online where that is not
** known. */
int processor_count(void);

#endif
