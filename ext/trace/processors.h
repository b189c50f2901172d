/*
** How many processors there are for this process.
*/
#ifndef TRACEDIFF_PROCESSORS_H
#define TRACEDIFF_PROCESSORS_H

/* At least 1: those that the scheduler may put the calling thread on, as taskset and
** containers narrow them; those online where that cannot be had. */
int processor_count(void);

#endif
