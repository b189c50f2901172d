/*
** How many kernels and graphs a file launches, and how many of them in captures of graphs.
*/
#ifndef TRACEDIFF_CAPTURED_H
#define TRACEDIFF_CAPTURED_H

#include "file/file.h"

/* Fills in file->launches and file->captured, once; both are 0 without a capture. A launch is a
** call whose name has `Launch` and then `Kernel`, or `KernelLaunch` or `GraphLaunch`; one inside
** another of its thread is part of that. It is in a capture if one is open on any thread. */
bool launches_count(struct trace_file *file, const struct stopper *stopper,
                    struct failure *failure);

#endif
