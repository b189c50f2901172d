/*
** Which call launched which device work (T10).
*/
#ifndef TRACEDIFF_LINK_H
#define TRACEDIFF_LINK_H

#include "columns.h"
#include "sort.h"

/* Fills columns.link of a file whose kinds are known:
** 1. a device event's link is the call with its correlation (> 0); of several:
**    not cuda_driver before cuda_driver, then the latest start not after its
**    own, else the earliest start; ties: later in the file
** 2. a call's link is the first device event linked to it: start, then file */
bool links_find(struct trace_file *file, const struct stopper *stopper, struct failure *failure);

#endif
